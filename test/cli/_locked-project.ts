import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { runInProcess } from '../run-in-process.ts'

/** A project with one skill that runs a script, and a home of its own. */
export function lockedProject() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-cli-locked-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const workspace = join(root, 'project')
  const write = (path: string, content: string): void => {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), content)
  }
  const skill = '.claude/skills/deploy'
  const head = 'name: deploy\ndescription: Deploys. Use when asked to.\nrun: scripts/run.sh'
  write('.git/HEAD', '')
  write(`${skill}/SKILL.md`, `---\n${head}\n---\nDo it.\n`)
  write(`${skill}/scripts/run.sh`, '#!/bin/sh\necho done\n')
  const home = join(root, 'home')
  const cli = (...args: string[]) =>
    runInProcess(args, { cwd: workspace, home, env: { NO_COLOR: '1' } })
  const json = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await cli(...args, '--json')).stdout)
  const directory = join(workspace, skill)
  return { root, home, workspace, skill, directory, write, cli, json }
}
