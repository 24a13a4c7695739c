import type { Extraction } from './extract-value.ts'

/** A tool whose answer has what another tool of the same server requires. */
export interface Provider {
  /** Name of the parameter that is missing. */
  parameter: RegExp
  /** Name of the tool that is called first. */
  tool: RegExp
  extraction: (request: string) => Extraction
}

/** First that is installed beside the tool provides (seed 3, multi-tool orchestration). */
export const providers: readonly Provider[] = [
  { parameter: /^page_?id$/i, tool: /^list_pages$/i, extraction: () => ({ kind: 'open-page' }) },
  { parameter: /(?:^|_)uid$/i, tool: /^take_snapshot$/i, extraction: element },
  {
    parameter: /^(?:ref|target|start_?ref|start_?target)$/i,
    tool: /^browser_snapshot$/i,
    extraction: element,
  },
  {
    parameter: /^library_?id$|CompatibleLibraryID$/i,
    tool: /^resolve[-_]library[-_]id$/i,
    extraction: () => ({ kind: 'library-id' }),
  },
  { parameter: /^(?:database|db)(?:_?name)?$/i, tool: /^list_databases$/i, extraction: item },
  { parameter: /^table(?:_?name)?$/i, tool: /^list_tables$/i, extraction: item },
  { parameter: /^field_?name$/i, tool: /^filter_(?:queries|mutations)$/i, extraction: item },
  { parameter: /^type_?name$/i, tool: /^filter_types$/i, extraction: item },
]

/** Tools that open the page which the other tools of their server then work on. */
export const visitor = /^(?:navigate_page|browser_navigate)$/i

/** Tools that open, leave or close a page themselves. */
export const moves = /navigat|(?:new|close|select|list)_?pages?$|tabs?$|close$/i

/** Requests that several tools of one server answer together, in this order. */
export const playbooks: readonly { request: RegExp; tools: readonly RegExp[] }[] = [
  {
    request:
      /\b(?:inspect|review|check|examine|summari[sz]e|look (?:at|into|over))\b[^\n]{0,200}\b(?:pr|pull request)\b/i,
    tools: [/^get_pull_request$/, /^get_pull_request_files$/, /^get_pull_request_status$/],
  },
  {
    request: /\b(?:docs?|documentation|reference|examples?|usage)\b/i,
    tools: [/^resolve[-_]library[-_]id$/i, /^(?:query|get)[-_](?:library[-_])?docs$/i],
  },
  {
    request:
      /\b(?:details?|inspect|explain|describe|arguments|fields)\b[^\n]{0,100}\bquer(?:y|ies)\b|\bquer(?:y|ies)\b[^\n]{0,100}\bdetails?\b/i,
    tools: [/^filter_queries$/i, /^get_field_details$/i],
  },
]

/** Words of a request that do not describe an element of a page. */
const actionWords = new Set(
  'a an and at click clicks clicking double drag element fill find focus for hover in into it mouse my on onto over page please press select tap that the then this to type uid value with'.split(
    ' ',
  ),
)

function element(request: string): Extraction {
  // The value stands on the last line; the word before it may end the line above.
  const from = Math.max(0, request.lastIndexOf('\n') - 6)
  const lastLine = request.slice(from).replace(/\s(?:with|to)\s\S[^\n]*$/i, '')
  const beforeValue = request.slice(0, from) + lastLine
  const words = (beforeValue.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, 60)
  return { kind: 'element', words: words.filter((word) => !actionWords.has(word)) }
}

function item(request: string): Extraction {
  return { kind: 'item', request: request.slice(0, 2000) }
}
