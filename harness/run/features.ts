/** Which features a partner's configuration turns on: what is configured is what is checked. */
import { CLIENT_FIXTURES, type Feature } from '../../scenarios/index.ts';
import { isLoopback, type Partner } from '../sender/index.ts';
import type { ClientFixtures } from './identities.ts';

export function featuresOf(partner: Partner, fixtures: ClientFixtures = {}): Feature[] {
  const features: Feature[] = [];
  if (partner.signing !== undefined) features.push('hmac');
  if (partner.apiKey !== undefined) features.push('api-key');
  if (partner.url.startsWith('https:')) features.push('https');
  if (partner.tls?.clientCert !== undefined) features.push('mtls');
  for (const name of CLIENT_FIXTURES) if (fixtures[name] !== undefined) features.push(`fixture-${name}`);
  return features;
}

/** Whether deliveries go over plain HTTP to another machine. */
export function isReadableOnTheWay(partner: Partner): boolean {
  const { protocol, hostname } = new URL(partner.url);
  return protocol === 'http:' && !isLoopback(hostname);
}
