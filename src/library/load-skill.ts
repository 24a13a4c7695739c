import { readRegularFile, sha256 } from '../base/index.ts'
import {
  findReferences,
  parseSkill,
  type SkillDocument,
  SkillLoadError,
  SkillNotFoundError,
  SkillParseError,
} from '../skill/index.ts'
import { listResources } from './list-skill-files.ts'
import type { Skill, SkillInfo } from './model.ts'
import { isOwnSkillFile, selfReferenceCode, selfReferences } from './self-reference.ts'

/** A larger `SKILL.md` is refused: it would be some 250,000 tokens. */
export const maxSkillBytes: number = 1024 * 1024

/**
 * Reads the body of a skill whose metadata is known, and lists its resources.
 *
 * @throws {SkillNotFoundError} when the file is gone since it was listed.
 * @throws {SkillLoadError} when it cannot be read, is too large or not UTF-8, or leads to itself.
 * @throws {SkillParseError} when its frontmatter has become unusable since it was listed.
 */
export function loadSkill(info: SkillInfo): Skill {
  const { name, path } = info
  const reading = readRegularFile(path, { maxBytes: maxSkillBytes })
  if (!reading.ok) {
    if (reading.code === 'file-missing') throw gone(info)
    throw new SkillLoadError({
      code: reading.code,
      message: `Skill ${name} cannot be loaded: ${reading.message}.`,
    })
  }
  const { skill, diagnostics } = parseSkill(reading.text, { path })
  if (skill === undefined) {
    throw new SkillParseError({
      code: 'skill-unusable',
      message: `Skill ${name} cannot be used any more: its frontmatter has changed and is broken.`,
      hint: `skillrail validate ${path} says what is wrong.`,
      diagnostics,
    })
  }
  refuseSelfReference(info, skill)
  return {
    // What the skill may do is decided by the fields that are in the file now.
    info: { ...info, fields: skill.fields, size: reading.size, mtimeMs: reading.mtimeMs },
    body: skill.body,
    digest: sha256(reading.bytes),
    resources: listResources(info.directory),
  }
}

function refuseSelfReference({ name, path }: SkillInfo, { fields, body }: SkillDocument): void {
  const declared = selfReferences(fields, path)
  const link = findReferences(body).find(
    ({ kind, target }) => kind === 'link' && isOwnSkillFile(target),
  )
  if (declared.length === 0 && link === undefined) return
  const how = declared[0]?.message ?? 'its body links to its own SKILL.md'
  throw new SkillLoadError({
    code: selfReferenceCode,
    message: `Skill ${name} refers to itself: ${how} (${path}).`,
    hint: 'Remove the reference: following it would never come to an end.',
    diagnostics: declared,
  })
}

function gone({ name, path, source }: SkillInfo): SkillNotFoundError {
  return new SkillNotFoundError({
    code: 'skill-gone',
    message: `Skill ${name} was found in ${source}, but ${path} does not exist any more.`,
    hint: 'skillrail list shows what there is now.',
  })
}
