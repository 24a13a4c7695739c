// Lists and maps in brackets.

/** A list in `[]` or a map in `{}`, from the reader's line on; lines are joined as they are needed. */
export function readFlow(reader, value, indent, depth) {
  const flow = { text: value, at: 0 }
  const node = flowNode(reader, flow, indent, depth)
  const rest = flow.text.slice(flow.at)
  if (!/^(?:[ \t]+#.*|[ \t]*)$/.test(rest)) reader.fail('nothing may follow a closing bracket')
  reader.at++
  return node
}

function flowPeek(reader, flow, indent) {
  for (;;) {
    const blank = /^(?:[ \t\n]+(?:#[^\n]*)?)*/.exec(flow.text.slice(flow.at))[0]
    flow.at += blank.length
    if (flow.at < flow.text.length) return flow.text.charAt(flow.at)
    reader.at++
    if (reader.at >= reader.lines.length) reader.fail('a bracket is not closed')
    const line = reader.lines[reader.at]
    if (line.trim() !== '' && reader.indent() <= indent) reader.fail('a bracket is not closed')
    flow.text += `\n${line}`
  }
}

function flowNode(reader, flow, indent, depth) {
  reader.checkDepth(depth)
  const first = flowPeek(reader, flow, indent)
  if (first === '[') return flowItems(reader, flow, indent, depth, ']')
  if (first === '{') return flowItems(reader, flow, indent, depth, '}')
  return flowScalar(reader, flow)
}

function flowItems(reader, flow, indent, depth, end) {
  flow.at++
  const list = []
  const map = new Map()
  while (flowPeek(reader, flow, indent) !== end) {
    const node = flowNode(reader, flow, indent, depth + 1)
    const colon = flowPeek(reader, flow, indent) === ':'
    if (colon && typeof node.text !== 'string') reader.fail('a key is a text')
    if (colon) flow.at++
    const isEmpty = colon && [',', end].includes(flowPeek(reader, flow, indent))
    const value =
      colon && !isEmpty ? flowNode(reader, flow, indent, depth + 1) : { text: '', plain: true }
    if (end === '}') {
      if (typeof node.text !== 'string') reader.fail('a key is a text')
      reader.addKey(map, node.text)
      map.set(node.text, value)
    } else if (colon) list.push(new Map([[node.text, value]]))
    else list.push(node)
    if (flowPeek(reader, flow, indent) === ',') flow.at++
    else if (flowPeek(reader, flow, indent) !== end) reader.fail('a comma is missing')
  }
  flow.at++
  return end === '}' ? map : Object.assign(list, { flow: true })
}

function flowScalar(reader, flow) {
  const first = flow.text.charAt(flow.at)
  if (/[&*!@`%|>,]/.test(first)) reader.fail(`a text in brackets cannot begin with ${first}`)
  if (first === '"' || first === "'") {
    const whole = first === '"' ? /^"(?:[^"\\]|\\[^])*"/ : /^'(?:[^']|'')*'/
    let match = whole.exec(flow.text.slice(flow.at))
    while (match === null) {
      reader.at++
      if (reader.at >= reader.lines.length) reader.fail('a quoted text is not closed')
      flow.text += `\n${reader.lines[reader.at]}`
      match = whole.exec(flow.text.slice(flow.at))
    }
    flow.at += match[0].length
    return { text: reader.unquote(match[0]), plain: false }
  }
  const [written] =
    /^(?:[^\s,[\]{}:#]|:(?![\s,[\]{}]|$)|(?<=\S)#|[ \t]+(?=[^\s,[\]{}:#])|[ \t]+:(?=[^\s,[\]{}]))*/.exec(
      flow.text.slice(flow.at),
    )
  if (written === '' && first !== ':') reader.fail('a value is missing')
  flow.at += written.length
  return { text: written.trim(), plain: true }
}
