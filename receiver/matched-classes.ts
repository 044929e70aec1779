/**
 * Makes Express fast on Node 20 and 22. Express gives every request and response the prototype of the app, and an object whose prototype
 * was changed is slow in everything that is done with it afterwards. Objects that are born with that prototype are spared it: setting the
 * prototype that an object already has does nothing.
 */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Express } from 'express';

/** The classes to hand to `createServer`. Empty where Node does not allow it: the receiver is then right all the same, and slower. */
export function matchedClasses(
  app: Express,
): Pick<NonNullable<Parameters<typeof import('node:http').createServer>[0]>, 'IncomingMessage' | 'ServerResponse'> {
  // Functions and not classes: the prototype of a class cannot be replaced, and Node's own constructors can be called.
  function MatchedRequest(this: IncomingMessage, socket: Socket) {
    Reflect.apply(IncomingMessage as unknown as CallableFunction, this, [socket]);
  }
  MatchedRequest.prototype = app.request;
  function MatchedResponse(this: ServerResponse, request: IncomingMessage, options: unknown) {
    Reflect.apply(ServerResponse as unknown as CallableFunction, this, [request, options]);
  }
  MatchedResponse.prototype = app.response;
  const classes = {
    IncomingMessage: MatchedRequest as unknown as typeof IncomingMessage,
    ServerResponse: MatchedResponse as unknown as typeof ServerResponse,
  };
  try {
    new classes.ServerResponse(new classes.IncomingMessage(new Socket()));
    return classes;
  } catch {
    return {};
  }
}
