import { spawnSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { bin } from '../command-line.ts'
import type { TestProject } from './_project.ts'

/** Root may do everything: then a command is run as somebody else. */
const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
const started = spawnSync(process.execPath, ['--no-warnings', bin, '--version'], other)

export const isThereAnother: boolean = process.platform !== 'win32' && started.status === 0

/** What is said of tests that are left out for want of one. */
export const withoutAnother = isThereAnother
  ? ''
  : ' (needs another user who can start the command line)'

/** Runs a command in a trusted project, as a user who may not do everything. */
export function asAnother(
  project: TestProject,
  args: readonly string[],
): { status: number | null; stdout: string; stderr: string } {
  for (const directory of ['..', '../home', '.']) {
    chmodSync(join(project.directory, directory), 0o777)
  }
  const env = { PATH: process.env['PATH'], HOME: join(project.directory, '../home') }
  return spawnSync(process.execPath, ['--no-warnings', bin, '--trust-workspace', ...args], {
    cwd: project.directory,
    env,
    encoding: 'utf8',
    ...other,
  })
}
