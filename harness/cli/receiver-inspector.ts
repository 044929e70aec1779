/** `hookproof receiver --inspect`: the inspector page beside the receiver. */
import { HookproofError } from '../../contract/hookproof-error.ts';
import { startInspector } from './receiver-door.ts';
import { wholeNumber } from './whole-number.ts';

export interface InspectFlags {
  readonly inspect?: string | true;
  readonly inspectHost?: string;
}

const DEFAULT_PORT = '3001';

type InspectorOptions = NonNullable<Parameters<typeof startInspector>[0]>;
type Inspector = Awaited<ReturnType<typeof startInspector>>;

/**
 * Opens the receiver, and before it the inspector where one is asked for: `open` gets the observers. Both end together, and neither stays
 * when the other cannot be opened.
 */
export async function openInspected<Receiver extends { readonly url: string; close(): Promise<void> }>(
  { inspect, inspectHost: host }: InspectFlags,
  { signing, apiKey }: Pick<InspectorOptions, 'signing' | 'apiKey'>,
  open: (observers: Inspector['observe'][]) => Promise<Receiver>,
): Promise<Receiver & { readonly inspectorUrl: string | null }> {
  if (inspect === undefined) {
    if (host === undefined) return { ...(await open([])), inspectorUrl: null };
    throw new HookproofError('RECEIVER_INSPECT_HOST', '--inspect-host stands without --inspect', {
      hint: 'Add --inspect, or leave --inspect-host out.',
    });
  }
  let receiverUrl: string | undefined;
  const inspector = await startInspector({
    ...(signing === undefined ? {} : { signing }),
    ...(apiKey === undefined ? {} : { apiKey }),
    port: wholeNumber(inspect === true ? DEFAULT_PORT : inspect, '--inspect', 65_535),
    ...(host === undefined ? {} : { host }),
    receiverUrl: () => receiverUrl,
  });
  try {
    const receiver = await open([inspector.observe]);
    receiverUrl = receiver.url;
    const close = async () => {
      await receiver.close();
      await inspector.close();
    };
    return { ...receiver, close, inspectorUrl: inspector.url };
  } catch (error) {
    await inspector.close();
    throw error;
  }
}
