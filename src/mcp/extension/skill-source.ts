import type { SkillSource } from '@modelcontextprotocol/server/ext/skills'
import { isUtf8 } from 'node:buffer'
import { extname } from 'node:path'
import { compareText, safeLine } from '../../base/index.ts'
import type { McpWorld } from '../world.ts'
import { readSkillUri, skillUri } from './skill-uri.ts'
import { bytesOf, entryOf, servedSkill, servedSkills } from './served-skills.ts'

/**
 * The text of the extension that is served here: final since 13 September 2026, for MCP of
 * 2026-07-28. Its methods and the shape of an entry are the SDK's; what is in an entry is ours.
 */
export const skillsExtension: { id: string; revision: string } = {
  id: 'io.modelcontextprotocol/skills',
  revision: '2026-09-13',
}

type ListedResource = NonNullable<
  Awaited<ReturnType<NonNullable<SkillSource['readDirectory']>>>
>['resources'][number]

const pageSize = 50

/** The skills of this project and of its user, read anew for every request. */
export function skillSource(world: McpWorld): SkillSource {
  return {
    async list({ cursor }) {
      const { page, next } = pageOf(await servedSkills(world), cursor)
      return { skills: page.flatMap((skill) => entryOf(skill) ?? []), ...next }
    },
    async get(uri) {
      const named = readSkillUri(uri)
      if (named?.path !== 'SKILL.md') return undefined
      const skill = await servedSkill(world, named.skill)
      return skill === undefined ? undefined : entryOf(skill)
    },
    async read(uri) {
      const named = readSkillUri(uri)
      const skill = named === undefined ? undefined : await servedSkill(world, named.skill)
      const file = skill?.files.find(({ path }) => path === named?.path)
      if (skill === undefined || file === undefined) return undefined
      const bytes = bytesOf(skill.info, file.path)
      if (bytes === undefined) return undefined
      const mimeType = mimeTypeOf(file.path)
      return isUtf8(bytes) ? { text: bytes.toString('utf8'), mimeType } : { bytes, mimeType }
    },
    async readDirectory(uri, { cursor }) {
      const named = readSkillUri(uri)
      const skill = named === undefined ? undefined : await servedSkill(world, named.skill)
      if (named === undefined || skill === undefined) return undefined
      const paths = skill.files.map(({ path }) => path)
      const children = childrenOf(named.skill, named.path, paths)
      if (children === undefined) return undefined
      const { page, next } = pageOf(children, cursor)
      return { resources: page, ...next }
    },
    async listResources() {
      const skills = await servedSkills(world)
      return skills.map(({ info: { name, description } }) => ({
        uri: skillUri(name, 'SKILL.md'),
        name,
        description: safeLine(description),
        mimeType: 'text/markdown',
      }))
    },
  }
}

/** Undefined where no file lies in the directory. */
function childrenOf(
  skill: string,
  directory: string,
  paths: readonly string[],
): ListedResource[] | undefined {
  const prefix = directory === '' ? '' : `${directory}/`
  const below = paths.filter((path) => path.startsWith(prefix))
  if (below.length === 0) return undefined
  const children = new Map<string, ListedResource>()
  for (const path of below) {
    const [name = '', ...deeper] = path.slice(prefix.length).split('/')
    const mimeType = deeper.length > 0 ? 'inode/directory' : mimeTypeOf(name)
    children.set(name, { uri: skillUri(skill, `${prefix}${name}`), name, mimeType })
  }
  return [...children.values()].toSorted((a, b) => compareText(a.name, b.name))
}

/** A cursor is the number of what came before; any other text begins at the beginning. */
function pageOf<T>(
  all: readonly T[],
  cursor: string | undefined,
): { page: T[]; next: { nextCursor?: string } } {
  const start = /^\d{1,9}$/.test(cursor ?? '') ? Number(cursor) : 0
  const end = start + pageSize
  return {
    page: all.slice(start, end),
    next: end < all.length ? { nextCursor: String(end) } : {},
  }
}

const mimeTypes: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.txt': 'text/plain',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.html': 'text/html',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.ts': 'text/plain',
  '.py': 'text/x-python',
  '.sh': 'text/x-shellscript',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.pdf': 'application/pdf',
}

function mimeTypeOf(path: string): string {
  return mimeTypes[extname(path).toLowerCase()] ?? 'application/octet-stream'
}
