import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives a run of the tests a temporary directory of its own, so that it leaves nothing behind. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-tests-'))
  // Some tests run a command as another user, who has to get to what lies below.
  chmodSync(directory, 0o755)
  // Windows reads the other two.
  Object.assign(process.env, { TMPDIR: directory, TEMP: directory, TMP: directory })
  return () => {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}
