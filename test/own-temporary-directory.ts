import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Gives a run of the tests a temporary directory of its own, so that it leaves nothing behind. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'skillrail-tests-'))
  process.env['TMPDIR'] = directory
  return () => {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}
