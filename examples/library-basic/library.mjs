import { join } from 'node:path'
import { renderCatalog, SkillManager } from 'skillrail'

const own = join(import.meta.dirname, 'skills')

/** What a program without an agent of ours tells its model: which skills there are, and the text of one. */
export async function prompts(name, argumentText) {
  const library = new SkillManager({ customPaths: [own], trustedPaths: [own] })
  const { skills, diagnostics } = await library.discover()
  const catalogue = renderCatalog(skills, { format: 'xml', tokenBudget: 2000 }).text
  const { content } = await library.activate(name, argumentText, { source: 'model' })
  return { catalogue, content, diagnostics }
}
