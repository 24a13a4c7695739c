import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { scriptText } from '../../src/trigger/export-triggers.ts'

/** A shell and the tools that come first on its path. */
export interface ShellSetup {
  name: string
  shell: readonly string[]
  /** Program names to put in place of the machine's own: `awk` → an absolute path. */
  tools: Readonly<Record<string, readonly string[]>>
}

/** The absolute path of a program, or undefined where it is not installed. */
export function programPath(name: string): string | undefined {
  const places = (process.env['PATH'] ?? '').split(delimiter)
  return places.map((place) => join(place, name)).find((path) => existsSync(path))
}

export function installScript(skill: string): string {
  mkdirSync(join(skill, 'scripts'), { recursive: true })
  const path = join(skill, 'scripts/inject-context')
  writeFileSync(path, scriptText())
  chmodSync(path, 0o755)
  return path
}

/** Runs the script with the prompt on standard input, or as one argument. */
export function runScript(
  setup: ShellSetup,
  script: string,
  prompt: string,
  way: 'stdin' | 'argument' = 'stdin',
): { stdout: string; stderr: string; status: number | null } {
  const [program = 'sh', ...words] = setup.shell
  const result = spawnSync(program, [...words, script, ...(way === 'argument' ? [prompt] : [])], {
    input: way === 'stdin' ? prompt : '',
    encoding: 'utf8',
    env: { PATH: [toolFolder(setup), process.env['PATH']].join(delimiter), HOME: tmpdir() },
    maxBuffer: 64 * 1024 * 1024,
  })
  return { stdout: result.stdout, stderr: result.stderr, status: result.status }
}

const folders = new Map<string, string>()

function toolFolder({ name, tools }: ShellSetup): string {
  const known = folders.get(name)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(tmpdir(), 'skillrail-tools-'))
  for (const [tool, [program = '', ...words]] of Object.entries(tools)) {
    const path = join(folder, tool)
    if (words.length === 0) symlinkSync(program, path)
    else {
      writeFileSync(path, `#!/bin/sh\nexec ${[program, ...words].join(' ')} "$@"\n`)
      chmodSync(path, 0o755)
    }
  }
  folders.set(name, folder)
  return folder
}
