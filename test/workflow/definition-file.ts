import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../src/core/json.ts'

/** Writes a definition for `tools workflow add NAME FILE`: the step `look` before the tool `go` by default. */
export function definitionFile(parts: JsonObject = {}): string {
  const definition = {
    enabled: true,
    description: 'Look',
    mode: 'enforce',
    triggers: { tools: ['go'] },
    prerequisites: [prerequisite('look')],
    ...parts,
  }
  const path = join(mkdtempSync(join(tmpdir(), 'definition-')), 'definition.json')
  writeFileSync(path, JSON.stringify(definition))
  return path
}

export function prerequisite(tool: string, step = 1): JsonObject {
  return { step, tool, description: 'see what is there', required: true }
}
