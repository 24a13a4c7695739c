import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Diagnostic } from '../core/diagnostic.ts'
import { readRegularFile } from '../core/read-files.ts'
import { type Runtime, userDirectories } from '../core/runtime.ts'
import { readTriggers } from '../skill/trigger-declarations.ts'
import { FieldReader } from '../skill/field-values.ts'
import type { TriggerDeclaration } from '../skill/model.ts'
import { readYaml } from '../skill/read-yaml.ts'
import type { TrustPolicy } from '../trust/model.ts'
import { triggerOverlay, workspaceFileParts } from '../trust/project-files.ts'
import type { Discovery } from './model.ts'

/** The files that add triggers to skills of others: the user's own, then the project's. */
export function overlayPaths(runtime: Runtime, workspace: string): string[] {
  return [join(userDirectories(runtime).config, 'triggers.yaml'), join(workspace, triggerOverlay)]
}

/** Adds the triggers of overlays to the skills that they name. Never throws. */
export function withOverlays(
  runtime: Runtime,
  policy: TrustPolicy,
  discovery: Discovery,
): Discovery {
  const paths = overlayPaths(runtime, policy.workspace).filter((path) => existsSync(path))
  if (paths.length === 0) return discovery
  const diagnostics: Diagnostic[] = []
  const added = new Map<string, TriggerDeclaration[]>()
  for (const path of paths) {
    const report = (message: string, hint?: string): void => {
      diagnostics.push({ code: 'overlay-unused', severity: 'warning', message, path, hint })
    }
    if (path.endsWith(triggerOverlay) && !isAccepted(policy)) {
      report('the triggers are not trusted, so they have no effect', 'Review: skillrail trust')
      continue
    }
    const reading = readRegularFile(path, { maxBytes: 1024 * 1024 })
    const yaml = readYaml(reading.ok ? reading.text : '', { firstLine: 1, path })
    diagnostics.push(...yaml.diagnostics)
    if (yaml.root?.kind !== 'map') report('it is not a map from names of skills to triggers')
    const reader = new FieldReader(path, diagnostics)
    for (const { key, value } of yaml.root?.kind === 'map' ? yaml.root.entries : []) {
      const own = readTriggers(reader, value).map((one) => ({ ...one, base: dirname(path) }))
      added.set(key.text, [...(added.get(key.text) ?? []), ...own])
      if (discovery.skills.every(({ name }) => name !== key.text)) {
        report(`there is no skill ${key.text}`)
      }
    }
  }
  const skills = discovery.skills.map((info) => {
    const more = added.get(info.name)
    if (more === undefined) return info
    return { ...info, fields: { ...info.fields, triggers: [...info.fields.triggers, ...more] } }
  })
  return { ...discovery, skills, diagnostics: [...discovery.diagnostics, ...diagnostics] }
}

function isAccepted({ workspace, workspaceTrust, acceptance }: TrustPolicy): boolean {
  if (workspaceTrust === 'trusted') return true
  const accepted = acceptance?.parts.find(({ path }) => path === triggerOverlay)
  const now = workspaceFileParts(workspace).find(({ path }) => path === triggerOverlay)
  return accepted !== undefined && now?.digest === accepted.digest
}
