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
    callable(IncomingMessage).call(this, socket);
  }
  function MatchedResponse(this: ServerResponse, request: IncomingMessage, options: unknown) {
    callable(ServerResponse).call(this, request, options);
  }
  MatchedRequest.prototype = app.request;
  MatchedResponse.prototype = app.response;
  // As `extends` does it. From this V8 learns how many fields the objects will have; without it they outgrow the room that they are born
  // with, become hash tables, and a delivery takes half as much time again.
  Object.setPrototypeOf(MatchedRequest, IncomingMessage);
  Object.setPrototypeOf(MatchedResponse, ServerResponse);
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

/** Node's constructors are functions, which their types do not say. */
function callable(nodes: object): (this: object, ...args: unknown[]) => void {
  return nodes as (this: object, ...args: unknown[]) => void;
}
