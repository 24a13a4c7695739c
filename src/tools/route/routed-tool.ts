import type { ToolDefinition, ToolSummary } from '../model.ts'
import { inputForms } from '../parameters/input-forms.ts'
import { fieldWeights } from './weights.ts'
import { type FieldText, type GatheredWords, gatherWords, type WordTable } from './word-table.ts'
import { scoredWords } from './words.ts'

/** What a router needs of a tool besides its words. */
export interface RoutedTool {
  id: string
  server: string
  name: string
  category: string | undefined
  /** Whether it carries phrases that asked for it. */
  hasExamples: boolean
  /** The words of its name in their scored form, each once. */
  nameWords(): readonly string[]
  /** What it takes, as `inputForms` writes it; empty where its schema is not known. */
  inputs(): string
}

/** Tools in one order, and their words: positions of the ones are documents of the others. */
export interface RoutedTools {
  tools: readonly RoutedTool[]
  words: WordTable
}

/** The same with every word. */
export interface GatheredTools extends RoutedTools {
  words: GatheredWords
}

/** Finds the whole definition of a tool, where it is known. */
export type DefinitionOf = (id: string) => Pick<ToolDefinition, 'inputSchema'> | undefined

/** `tools` must be in one order whatever order they came in; sums then come out the same. */
export function routedTools(
  tools: readonly ToolSummary[],
  definition: DefinitionOf = () => undefined,
): GatheredTools {
  return {
    tools: tools.map((tool) => routedTool(tool, definition)),
    words: gatherWords(tools.map(fieldTexts), fieldWeights.length),
  }
}

function routedTool(
  { id, server, name, category, examples = [] }: ToolSummary,
  definition: DefinitionOf,
): RoutedTool {
  let words: readonly string[] | undefined
  let forms: string | undefined
  const nameWords = (): readonly string[] => (words ??= [...new Set(scoredWords(ownName(name)))])
  const inputs = (): string => (forms ??= formsOf(definition(id)))
  return { id, server, name, category, hasExamples: examples.length > 0, nameWords, inputs }
}

function formsOf(definition: Pick<ToolDefinition, 'inputSchema'> | undefined): string {
  return definition === undefined ? '' : inputForms(definition.inputSchema)
}

/** In the order of {@link fieldWeights}. */
function fieldTexts(tool: ToolSummary): (readonly FieldText[])[] {
  const { name, description, parameters, server, examples = [] } = tool
  return [
    [{ text: ownName(name) }],
    [{ text: description.slice(0, longestDescription) }],
    parameters.length === 0 ? [] : [{ text: parameters.join(' ') }],
    server === '' ? [] : [{ text: server }],
    examples.map((text) => ({ text })),
  ]
}

/** What follows in a longer one is about parameters and answers. */
const longestDescription = 2_000

/** The name without the prefix of an aggregating server. */
function ownName(name: string): string {
  return name.slice(name.lastIndexOf('__') + 1).replace(/^_+/, '') || name
}
