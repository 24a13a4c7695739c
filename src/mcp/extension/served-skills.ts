import type { Skill } from '@modelcontextprotocol/server/ext/skills'
import { isObject, readRegularFile, resolveInside, sha256 } from '../../base/index.ts'
import {
  currentTrust,
  discoverOptionsFrom,
  listSkillFiles,
  type SkillInfo,
} from '../../library/index.ts'
import { type JsonValue, readFrontmatter, type SkillFile, yamlToJson } from '../../skill/index.ts'
import { skillsOf } from '../skills.ts'
import type { McpWorld } from '../world.ts'
import { skillUri } from './skill-uri.ts'

/** What a host must be able to load (SEP-2640, Limits); a skill beyond it is not served. */
const mostFiles = 512
const mostBytes = 16 * 1024 * 1024

/** The last segment of a skill's path is its name, which the format's own rules bind. */
const servedName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** A skill as the extension serves it: all of its files can be addressed. */
export interface ServedSkill {
  info: SkillInfo
  files: readonly SkillFile[]
}

/**
 * The skills that are handed to a host as its own to load: a host decides by itself whether a model
 * may use one, so that only those are served that the user trusts and that a model may use.
 */
export async function servedSkills(world: McpWorld): Promise<ServedSkill[]> {
  const all = await skillsOf(world).list()
  return all.flatMap((info) => served(info, world) ?? [])
}

export async function servedSkillNames(world: McpWorld): Promise<string[]> {
  return (await servedSkills(world)).map(({ info }) => info.name)
}

export async function servedSkill(world: McpWorld, name: string): Promise<ServedSkill | undefined> {
  const info = (await skillsOf(world).list()).find((one) => one.name === name)
  return info === undefined ? undefined : served(info, world)
}

/** For `skills/list` and `skills/get`; undefined where it changed so that it cannot be served any more. */
export function entryOf({ info, files }: ServedSkill): Skill | undefined {
  const resources: { uri: string; digest: string; size: number }[] = []
  let manifest: Buffer | undefined
  for (const { path } of files) {
    const bytes = bytesOf(info, path)
    if (bytes === undefined) return undefined
    if (path === 'SKILL.md') manifest = bytes
    const digest = sha256(bytes)
    resources.push({ uri: skillUri(info.name, path), digest, size: bytes.length })
  }
  const frontmatter = manifest === undefined ? undefined : frontmatterOf(manifest, info)
  if (frontmatter === undefined) return undefined
  return { uri: skillUri(info.name, 'SKILL.md'), frontmatter, resources }
}

/** The bytes of a file that the skill really has; a link that leads out of it is none. */
export function bytesOf({ directory }: SkillInfo, path: string): Buffer | undefined {
  const resolved = resolveInside(directory, path)
  if (!resolved.ok) return undefined
  const options = { maxBytes: mostBytes, followSymlinks: false, binary: true }
  const reading = readRegularFile(resolved.path, options)
  return reading.ok ? reading.bytes : undefined
}

function served(info: SkillInfo, world: McpWorld): ServedSkill | undefined {
  if (info.trustLevel !== 'trusted' || info.fields.disableModelInvocation) return undefined
  if (!servedName.test(info.name) || info.directory === '') return undefined
  const options = discoverOptionsFrom(world.runtime, world.settings)
  if (currentTrust(info, options).level !== 'trusted') return undefined
  const files = listSkillFiles(info.directory)
  const size = files.reduce((sum, file) => sum + file.size, 0)
  const isWhole = files.some(({ path }) => path === 'SKILL.md')
  if (!isWhole || files.length > mostFiles || size > mostBytes) return undefined
  return { info, files }
}

/** As the author wrote it, every field; a host compares it with the file. */
function frontmatterOf(
  manifest: Buffer,
  { name, path }: SkillInfo,
): Skill['frontmatter'] | undefined {
  const reading = readFrontmatter(manifest, path)
  if (!reading.ok) return undefined
  const fields = yamlToJson(reading.root)
  if (!isObject<JsonValue>(fields)) return undefined
  // A name that was taken from the directory is none that a host finds in the file.
  if (fields['name'] !== name || typeof fields['description'] !== 'string') return undefined
  return { ...fields, name, description: fields['description'] }
}
