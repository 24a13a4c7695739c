import { basename, dirname, posix } from 'node:path'
import type { Diagnostic } from '../base/index.ts'
import type { SkillFields } from '../skill/index.ts'

/**
 * Where a skill leads back to itself: a chain that names its own skill, or a trigger that injects
 * the `SKILL.md` it stands in. Such a skill is listed, and refused when it is to be used.
 */
export function selfReferences(fields: SkillFields, path: string): Diagnostic[] {
  if (fields.chain === undefined && fields.triggers.length === 0) return []
  const own = new Set([fields.name, basename(dirname(path))])
  const steps = (fields.chain?.steps ?? []).filter(({ name }) => own.has(name))
  const triggers = fields.triggers.filter(({ inject }) => isOwnSkillFile(inject))
  return [
    ...steps.map(({ name, line }) =>
      finding(path, line, `the chain names its own skill, ${name}`, 'Take it out of `chain`.'),
    ),
    ...triggers.map(({ inject, line }) =>
      finding(
        path,
        line,
        `a trigger injects ${inject}, which is this file itself`,
        'Move what it shall inject to a file in `references`.',
      ),
    ),
  ]
}

/** Whether a path, relative to a skill, leads to the `SKILL.md` of that skill. */
export function isOwnSkillFile(path: string): boolean {
  return /^skill\.md$/i.test(posix.normalize(path))
}

function finding(path: string, line: number, message: string, hint: string): Diagnostic {
  return { code: selfReferenceCode, severity: 'error', message, path, line, hint }
}

export const selfReferenceCode = 'skill-refers-to-itself'
