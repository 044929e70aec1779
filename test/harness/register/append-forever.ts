/** A writer that appends to the register until it is killed, and prints how many records are stored. */
import { makeRecord, openRegister } from '../../../harness/register/index.ts';

const register = await openRegister(process.argv[2] ?? '');
for (let count = 1; ; count++) {
  await register.append([
    makeRecord({ partner: `killed-${count}`, event: 'failed', catalogue: 'sha256:abc', version: '0.1.0' }),
  ]);
  process.send?.(count);
}
