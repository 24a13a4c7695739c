import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ClientRecipe } from './clients.ts'

/** Lines that a test recognises in a request, with any text between them. */
export const shortReference: readonly string[] = ['PROGRAM FLOW 4711: first plan, then execute.']
export const longReference: readonly string[] = Array.from(
  { length: 200 },
  (_, index) =>
    `AMEND LINE ${String(index + 1).padStart(3, '0')} ${'of the amending flow, '.repeat(2)}end.`,
)

export interface TestHome {
  home: string
  project: string
  /** Contains a `node` of this version and the plain tools, and no agent client. */
  path: string
}

/** An empty home with the skill `saw`, a project, and the files that the client itself needs. */
export function makeHome(recipe: ClientRecipe, url: string): TestHome {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'agent-client-')))
  const project = join(home, 'project')
  mkdirSync(project)
  const skill = join(home, '.agents/skills/saw')
  write(join(skill, 'SKILL.md'), skillText)
  write(join(skill, 'references/program-flow.md'), `# Program\n\n${shortReference.join('\n')}\n`)
  write(join(skill, 'references/amend-flow.md'), `# Amend\n\n${longReference.join('\n')}\n`)
  for (const directory of new Set([recipe.skills, '.claude/skills'])) {
    if (directory === '.agents/skills') continue
    mkdirSync(join(home, directory), { recursive: true })
    symlinkSync(skill, join(home, directory, 'saw'))
  }
  for (const [path, text] of Object.entries(recipe.files(url, project)))
    write(join(home, path), text)
  const bin = join(home, 'bin')
  mkdirSync(bin)
  symlinkSync(process.execPath, join(bin, 'node'))
  return { home, project, path: `${bin}:/usr/bin:/bin` }
}

/** Every file below a directory with its content, links not followed. */
export function snapshot(directory: string): ReadonlyMap<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return new Map(
    files.map((file) => {
      const path = join(file.parentPath, file.name)
      return [path, readFileSync(path, 'latin1')]
    }),
  )
}

export function write(path: string, text: string, mode?: number): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  if (mode !== undefined) chmodSync(path, mode)
}

const skillText = `---
name: saw
description: Plans and executes work in waves. Use when the user asks for saw.
triggers:
  - match: "^/saw program"
    inject: references/program-flow.md
  - match: "^/saw amend"
    inject: references/amend-flow.md
---

# Saw

Follow the flow of the subcommand.
`
