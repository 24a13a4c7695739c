import type { SkillFields } from '../../skill/index.ts'

/**
 * The MCP servers that a skill wants: names of configured servers in `metadata.mcp-servers`, separated
 * by blanks or commas. A skill can name servers and never define one.
 */
export function serverNames({ metadata }: SkillFields): string[] {
  const names = (metadata['mcp-servers'] ?? '').split(/[\s,]+/).filter((name) => name !== '')
  return [...new Set(names)]
}
