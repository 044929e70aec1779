// Loaded before the program: leaves the peak of its memory, in kilobytes, in a file.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const { HOOKPROOF_TEST_PEAK_FILE: file } = process.env;
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS));
});
