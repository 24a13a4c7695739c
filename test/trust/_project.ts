import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts'
import type { SkillFields } from '../../src/skill/model.ts'
import type { ActingSkill, SkillScope } from '../../src/trust/model.ts'

/** A real temporary directory that goes away with the test. */
export function temporaryDirectory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-trust-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A fixture with a home of its own below `root`. */
export function runtimeIn(root: string): Runtime {
  const home = join(root, 'home')
  mkdirSync(home, { recursive: true })
  return systemRuntime({ home, cwd: root, env: {}, now: () => Date.UTC(2026, 10, 21) })
}

export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

export function skillIn(
  directory: string,
  fields: Partial<SkillFields> = {},
): ActingSkill & { scope: SkillScope } {
  return { name: 'deploy', scope: 'project', directory, fields: { ...noFields, ...fields } }
}

const noFields: SkillFields = {
  name: 'deploy',
  description: 'Deploys. Use when asked to deploy.',
  license: undefined,
  compatibility: undefined,
  metadata: {},
  allowedTools: undefined,
  triggers: [],
  chain: undefined,
  run: undefined,
  model: undefined,
  context: undefined,
  agent: undefined,
  disableModelInvocation: false,
  userInvocable: true,
  argumentHint: undefined,
  arguments: [],
  hooks: undefined,
}
