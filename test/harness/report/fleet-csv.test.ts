import { expect, it } from 'vitest';
import { renderFleetCsv, renderFleetHtml } from '../../../harness/report/index.ts';
import { fleetWith, partnerWith } from '../fleet/documents.ts';

it('has one line for each partner, quotes values where needed, and contains no formula', async () => {
  const refusals = [{ code: '=cmd|x', message: 'said "no", \x1b[31m\nand more', fix: '' }];
  const csv = await renderFleetCsv(
    fleetWith([
      partnerWith('acme', 'certified', 1, { evidenceLevel: 1 }),
      partnerWith('bad', 'failed', 2, { refusals, diagnosis: { fault: '@SUM(A1)', title: '' } }),
    ]),
  );
  const [head, acme, bad, end] = csv.split('\r\n');
  expect(head).toMatch(/^partner,url,profile,revision,outcome,before,change,verdict,pass,fail,.*,failed in valid,/);
  expect(acme).toMatch(/^acme,https:\/\/acme\.example\/webhooks\/orders,staging,1,certified,,new,conformant,/);
  expect(bad).toContain(`"'=cmd|x: said ""no"", \\x1b[31m\\nand more"`);
  expect(bad).toContain(`"'@SUM(A1)"`);
  expect(end).toBe('');
  const column = head?.split(',').indexOf('evidence level') ?? -1;
  expect(acme?.split(',')[column]).toBe('1');
});

it('shows the evidence level of a certified partner on the page', async () => {
  const page = await renderFleetHtml(fleetWith([partnerWith('acme', 'certified', 1, { evidenceLevel: 1 })]));
  expect(page).toContain('<span>until 2027-02-19, evidence level 1</span>');
});
