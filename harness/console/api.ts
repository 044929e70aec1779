/** The JSON API for other systems, and its OpenAPI document: both come from one table. */

import type { Pool } from 'pg';
import * as z from 'zod';
import { endpointOf, judgedBy, type Standing } from '../register/index.ts';
import { version } from '../version.ts';
import { readAudit } from './audit.ts';
import { readRecords } from './history.ts';
import { Problem } from './problem.ts';
import {
  ACTIONS,
  type ActionName,
  auditPage,
  auditQuery,
  listQuery,
  type PartnerSummary,
  partnerName,
  partnerPage,
  partnerSummary,
  problem,
  recordPage,
  recordsQuery,
  totals,
} from './schemas.ts';
import type { Standings } from './standings.ts';

interface ApiSources {
  readonly pool: Pool;
  readonly standings: Standings;
}

interface ApiRoute {
  /** The path, with parameters as Express writes them (`:name`). */
  readonly path: string;
  readonly id: string;
  readonly summary: string;
  readonly query: z.ZodObject;
  readonly response: z.ZodType;
  readonly answer: (sources: ApiSources, name: string, query: never) => Promise<unknown>;
}

/** Creates a route. The compiler infers the type of the handler's query from the schema. */
function route<Query extends z.ZodObject>(
  given: Omit<ApiRoute, 'answer' | 'query'> & {
    readonly query: Query;
    readonly answer: (sources: ApiSources, name: string, query: z.infer<Query>) => Promise<unknown>;
  },
): ApiRoute {
  return given;
}

const NO_QUERY = z.object({});

export const API_ROUTES: readonly ApiRoute[] = [
  route({
    path: '/api/partners',
    id: 'listPartners',
    summary: 'The partners, sorted and searched, a page at a time.',
    query: listQuery,
    response: partnerPage,
    answer: ({ standings }, _name, query) => standings.list(query),
  }),
  route({
    path: '/api/totals',
    id: 'countPartners',
    summary: 'The number of partners in each state.',
    query: NO_QUERY,
    response: totals,
    answer: ({ standings }) => standings.totals(),
  }),
  route({
    path: '/api/partners/:name',
    id: 'getPartner',
    summary: 'Whether a partner may get traffic now, derived from its records and verified with the public keys.',
    query: NO_QUERY,
    response: partnerSummary,
    answer: async ({ standings }, name) => summaryOf(known(await standings.standingOf(name))),
  }),
  route({
    path: '/api/partners/:name/records',
    id: 'listRecords',
    summary: 'The records of a partner, newest first.',
    query: recordsQuery,
    response: recordPage,
    async answer({ pool, standings }, name, query) {
      known(await standings.standingOf(name));
      const { unreadable: _, ...page } = await readRecords(pool, name, query);
      return page;
    },
  }),
  route({
    path: '/api/audit',
    id: 'listAudit',
    summary: 'Who did what in the console, newest first.',
    query: auditQuery,
    response: auditPage,
    answer: ({ pool }, _name, query) => readAudit(pool, query),
  }),
];

export function known(standing: Standing | null): Standing {
  if (standing !== null) return standing;
  throw new Problem(404, 'no-partner', 'There is no such partner in the register.');
}

function summaryOf(standing: Standing): PartnerSummary {
  const { certificate, last, mayGetTraffic, partner, reason, since, state, until, warnings } = standing;
  return {
    ...{ partner, mayGetTraffic, state, since, until, reason, url: endpointOf(standing), warnings: [...warnings] },
    cause: judgedBy(standing)?.cause?.title ?? null,
    profile: certificate?.profile ?? null,
    revision: certificate?.revision ?? null,
    lastEvent: last[0]?.event ?? null,
    lastAt: last[0]?.at ?? null,
    certifiedAt: certificate?.issuedAt ?? null,
  };
}

const ACTION_SUMMARIES: Readonly<Record<ActionName, string>> = {
  revoke: 'Ends the certificate of a partner.',
  override: 'Reinstates a certificate that a failing run or drift has suspended.',
  'run-now': 'Certifies or rechecks a partner as soon as a worker is free.',
  reschedule: 'Also certifies or rechecks a partner at the given time.',
};

/** Returns the OpenAPI 3.1 document of the API. */
export function openApiDocument(server: string): Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  const refer = (schema: z.ZodType, io: 'input' | 'output' = 'output') => referTo(schema, io, schemas);
  const responses = (schema: z.ZodType | null) => ({
    ...(schema === null
      ? { '204': { description: 'Done and recorded in the audit.' } }
      : { '200': { description: 'OK', content: json(refer(schema)) } }),
    default: { description: 'Why the request failed.', content: json(refer(problem)) },
  });
  const reads = API_ROUTES.map(({ id, path, query, response, summary }) => {
    const parameters = [...pathParameters(path), ...queryParameters(query)];
    const get = { operationId: id, summary, parameters, responses: responses(response) };
    return [openPath(path), { get }] as const;
  });
  const acts = (Object.keys(ACTIONS) as ActionName[]).map((name) => {
    const path = `/api/partners/:name/${name}`;
    const post = {
      operationId: name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase()),
      summary: ACTION_SUMMARIES[name],
      security: [{ token: [] }],
      parameters: pathParameters(path),
      requestBody: { required: true, content: json(refer(ACTIONS[name], 'input')) },
      responses: responses(null),
    };
    return [openPath(path), { post }] as const;
  });
  return {
    openapi: '3.1.0',
    info: { title: 'hookproof console', version, description: 'Who may get traffic, according to the register.' },
    servers: [{ url: server }],
    paths: Object.fromEntries([...reads, ...acts]),
    components: { schemas, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

const json = (schema: unknown) => ({ 'application/json': { schema } });
const openPath = (path: string) => path.replace(/:(\w+)/g, '{$1}');

function pathParameters(path: string): unknown[] {
  if (!path.includes(':name')) return [];
  const { $schema: _, ...schema } = z.toJSONSchema(partnerName);
  return [{ name: 'name', in: 'path', required: true, schema }];
}

function queryParameters(query: z.ZodObject): unknown[] {
  const { properties = {} } = z.toJSONSchema(query, { io: 'output' });
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }));
}

/** Converts a schema to JSON Schema, and moves the named schemas in it to `schemas`, with references. */
function referTo(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, unknown>): unknown {
  const text = JSON.stringify(z.toJSONSchema(schema, { io })).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $schema: _, $defs = {}, id, ...own } = JSON.parse(text) as Record<string, unknown>;
  for (const [name, { id: _id, ...definition }] of Object.entries($defs as Record<string, Record<string, unknown>>)) {
    schemas[name] = definition;
  }
  if (typeof id !== 'string') return own;
  schemas[id] = own;
  return { $ref: `#/components/schemas/${id}` };
}
