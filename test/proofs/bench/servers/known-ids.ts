/** What a receiver without a store has to know to answer: whether an id is new. */
const ids = new Set<string>();

export function remember(id: string): 'stored' | 'duplicate' {
  if (ids.has(id)) return 'duplicate';
  ids.add(id);
  return 'stored';
}
