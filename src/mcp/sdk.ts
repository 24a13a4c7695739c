import type * as Sdk from '@modelcontextprotocol/server'
import type * as SkillsSdk from '@modelcontextprotocol/server/ext/skills'
import type * as StdioSdk from '@modelcontextprotocol/server/stdio'

/** The official server; loaded only where one is opened. */
export async function loadServerSdk(): Promise<ServerSdk> {
  const [server, skills] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/ext/skills'),
  ])
  return { ...server, SkillsExtension: skills.SkillsExtension }
}

export type ServerSdk = typeof Sdk & Pick<typeof SkillsSdk, 'SkillsExtension'>

/** The transport over pipes, apart from what HTTP needs. */
export function loadStdioSdk(): Promise<typeof StdioSdk> {
  return import('@modelcontextprotocol/server/stdio')
}
