import type { JsonObject } from '../model.ts'
import type { Fields } from './fields.ts'
import type { RawServer } from './model.ts'

/** A group of servers in a file: the keys that lead to it, and what stands there. */
export interface ServerGroup {
  place: readonly string[]
  entries: JsonObject
}

/** How one owner writes servers down. */
export interface ServerShape {
  syntax: 'json' | 'toml'
  /** @param project real path of the workspace, for files that list servers by project. */
  groups(root: JsonObject, project: string): readonly ServerGroup[]
  /** Undefined where the entry is no server; the reason went to `fields.wrong`. */
  read(fields: Fields): RawServer | undefined
}

/** What an entry is that says nothing but how it is reached. */
export const plainServer: RawServer = {
  transport: 'stdio',
  args: [],
  env: {},
  envNames: [],
  headers: {},
  envHeaders: {},
  disabled: false,
}
