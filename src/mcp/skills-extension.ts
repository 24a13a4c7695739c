import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import type { Skill, SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { compareText } from '#core/errors'
import { readRegularFile, resolveInside } from '#core/read-files'
import { safeLine } from '#core/text'
import { currentTrust } from '#library/discover'
import { listSkillFiles } from '#library/skill-files'
import type { SkillInfo } from '#library/model'
import { isObject, sha256, type JsonValue } from '#core/json'
import type { SkillFile } from '#skill/model'
import { readFrontmatter } from '#skill/parse'
import { yamlToJson } from '#skill/read-yaml'
import type { ServedProject } from './served-project.ts'

type ListedResource = NonNullable<
  Awaited<ReturnType<NonNullable<SkillSource['readDirectory']>>>
>['resources'][number]

export function skillSource(project: ServedProject): SkillSource {
  const skillAt = async (
    uri: string,
  ): Promise<{ skill?: ServedSkill | undefined; path: string }> => {
    const { skill: name, path } = readSkillUri(uri) ?? { path: '' }
    const info = (await project.skills().list()).find((one) => one.name === name)
    return { skill: info && servedSkill(info, project), path }
  }
  return {
    async list() {
      const skills = await servedSkills(project)
      return { skills: skills.flatMap((skill) => entryOf(skill) ?? []) }
    },
    async get(uri) {
      const { skill, path } = await skillAt(uri)
      return !skill || path !== 'SKILL.md' ? undefined : entryOf(skill)
    },
    async read(uri) {
      const { skill, path } = await skillAt(uri)
      if (skill?.files.every((file) => file.path !== path) !== false) return undefined
      const bytes = bytesOf(skill.info, path)
      if (!bytes) return undefined
      return {
        ...(isUtf8(bytes) ? { text: bytes.toString('utf8') } : { bytes }),
        ...mimeTypeOf(path),
      }
    },
    async readDirectory(uri) {
      const { skill, path } = await skillAt(uri)
      const resources = skill && childrenOf(skill, path)
      return resources && { resources }
    },
    async listResources() {
      const skills = await servedSkills(project)
      return skills.map(({ info: { name, description } }) => ({
        uri: skillUri(name, 'SKILL.md'),
        name,
        description: safeLine(description),
        mimeType: 'text/markdown',
      }))
    },
  }
}

/** Returns undefined if the directory contains no file. */
function childrenOf({ info, files }: ServedSkill, directory: string): ListedResource[] | undefined {
  const prefix = directory === '' ? '' : `${directory}/`
  const children = new Map<string, ListedResource>()
  for (const { path } of files) {
    if (!path.startsWith(prefix)) continue
    const [name = '', ...deeper] = path.slice(prefix.length).split('/')
    const type = deeper.length > 0 ? { mimeType: 'inode/directory' } : mimeTypeOf(name)
    children.set(name, { uri: skillUri(info.name, `${prefix}${name}`), name, ...type })
  }
  if (children.size === 0) return undefined
  return [...children.values()].toSorted((a, b) => compareText(a.name, b.name))
}

/** MIME types of files that are not plain text, or that hosts render in a special way. */
const mimeTypes: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.json': 'application/json',
  '.html': 'text/html',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.pdf': 'application/pdf',
}

function mimeTypeOf(path: string): { mimeType?: string } {
  const mimeType = mimeTypes[extname(path).toLowerCase()]
  return mimeType === undefined ? {} : { mimeType }
}

/** Files that a host must be able to load (SEP-2640, Limits); a larger skill is not served. */
const maxFiles = 512
const maxBytes = 16 * 1024 * 1024

/** The last segment of a skill's path is its name, and the format restricts names. */
const validName = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** A skill that a host may load by itself, with its files. */
interface ServedSkill {
  info: SkillInfo
  files: readonly SkillFile[]
}

/**
 * Returns the skills that a host may load. The host alone decides whether a model uses one, so only
 * skills are served that the user trusts and that a model may use.
 */
async function servedSkills(project: ServedProject): Promise<ServedSkill[]> {
  const all = await project.skills().list()
  return all.flatMap((info) => servedSkill(info, project) ?? [])
}

export async function servedSkillNames(project: ServedProject): Promise<string[]> {
  return (await servedSkills(project)).map(({ info }) => info.name)
}

/**
 * For `skills/list` and `skills/get`; undefined if the skill has changed and can no longer be
 * served.
 */
function entryOf({ info, files }: ServedSkill): Skill | undefined {
  const contents = files.flatMap(({ path }) => {
    const bytes = bytesOf(info, path)
    return bytes ? [{ path, bytes }] : []
  })
  const manifest = contents.find(({ path }) => path === 'SKILL.md')
  const frontmatter = manifest && frontmatterOf(manifest.bytes, info)
  if (!frontmatter || contents.length < files.length) return undefined
  const resources = contents.map(({ path, bytes }) => ({
    uri: skillUri(info.name, path),
    digest: sha256(bytes),
    size: bytes.length,
  }))
  return { uri: skillUri(info.name, 'SKILL.md'), frontmatter, resources }
}

/** Returns the bytes of a file inside the skill; undefined for a link that leads out of it. */
function bytesOf({ directory }: SkillInfo, path: string): Buffer | undefined {
  const resolved = resolveInside(directory, path)
  if (!resolved.ok) return undefined
  const options = { maxBytes, followSymlinks: false, binary: true }
  const reading = readRegularFile(resolved.path, options)
  return reading.ok ? reading.bytes : undefined
}

function servedSkill(info: SkillInfo, { discovery }: ServedProject): ServedSkill | undefined {
  if (info.trustLevel !== 'trusted' || info.fields.disableModelInvocation) return undefined
  if (!validName.test(info.name) || info.directory === '') return undefined
  if (currentTrust(info, discovery).level !== 'trusted') return undefined
  const files = listSkillFiles(info.directory)
  const size = files.reduce((sum, file) => sum + file.size, 0)
  const isWhole = files.some(({ path }) => path === 'SKILL.md')
  if (!isWhole || files.length > maxFiles || size > maxBytes) return undefined
  return { info, files }
}

/** Returns every field as the author wrote it, since a host compares the result with the file. */
function frontmatterOf(manifest: Buffer, { name, path }: SkillInfo) {
  const reading = readFrontmatter(manifest, path)
  if (!reading.ok) return undefined
  const fields = yamlToJson(reading.root)
  if (!isObject(fields)) return undefined
  // A host does not find the name in the file if it was taken from the directory.
  if (fields['name'] !== name || typeof fields['description'] !== 'string') return undefined
  const { metadata } = fields
  const strings = isObject(metadata) ? { metadata: asStrings(metadata) } : {}
  return { ...fields, ...strings, name, description: fields['description'] }
}

/** Metadata of the format maps strings to strings: nested values become JSON. */
function asStrings(metadata: Readonly<Record<string, JsonValue>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

/** The scheme under which the skills extension addresses the files of skills (SEP-2640). */
const scheme = 'skill://'

function skillUri(skill: string, path: string): string {
  return `${scheme}${[skill, ...path.split('/')].map(encodeURIComponent).join('/')}`
}

/**
 * Returns the skill and path that a URI names; undefined for a URI with `..`, an empty part, `%2F`,
 * `\` or a control character.
 */
function readSkillUri(uri: string): { skill: string; path: string } | undefined {
  if (!uri.startsWith(scheme)) return undefined
  const [skill, ...rest] = uri.slice(scheme.length).split('/').map(decoded)
  if (skill === undefined || rest.includes(undefined)) return undefined
  return { skill, path: rest.join('/') }
}

function decoded(segment: string): string | undefined {
  try {
    const name = decodeURIComponent(segment)
    const isName = name !== '' && name !== '.' && name !== '..' && !/[/\\\p{Cc}]/u.test(name)
    return isName ? name : undefined
  } catch {
    return undefined
  }
}
