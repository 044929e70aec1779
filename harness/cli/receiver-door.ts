/** The one door between the harness and the receiver: the commands that serve the reference receiver go through its public face. */
export { createLogger, startReceiver as openReceiver } from '../../receiver/index.ts';
