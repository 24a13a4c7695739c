// The agent of this folder with models that follow a script: the spans that OpenTelemetry gets.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import path from 'node:path'
import { simulateReadableStream } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { cachedPackages } from '../../dev/cached-packages.mjs'
import { tracedGreeter } from './agent.mjs'

const packages = { '@ai-sdk/otel': '1.0.173', '@opentelemetry/sdk-trace-base': '2.12.1' }
const folder = cachedPackages('ai-telemetry', packages, { peers: true })
if (folder !== undefined) await check()

async function check() {
  const load = createRequire(path.join(folder, 'package.json'))
  const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = load(
    '@opentelemetry/sdk-trace-base',
  )
  const { OpenTelemetry } = await import(load.resolve('@ai-sdk/otel'))
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const greet = await tracedGreeter({
    model: new MockLanguageModelV4({
      doGenerate: [
        call('skill', { name: 'greeting', arguments: 'Ada' }),
        call('translator', { task: 'Hello, Ada.' }),
        answer('stop', { type: 'text', text: 'Bonjour, Ada.' }),
      ],
    }),
    translatorModel: new MockLanguageModelV4({ doStream: [streamed('Bonjour, Ada.')] }),
    telemetry: new OpenTelemetry({ tracer: provider.getTracer('example') }),
  })
  assert.deepEqual(await greet('Ada is here.'), { text: 'Bonjour, Ada.', tokens: 48 })
  const spans = exporter.getFinishedSpans()
  const names = spans.map(({ name }) => name)
  const count = (pattern) => names.filter((name) => pattern.test(name)).length
  assert.equal(count(/skill$/), 1)
  assert.equal(count(/translator$/), 1)
  assert.equal(count(/^step/), 4)
}

function call(toolName, input) {
  const part = { type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(input) }
  return answer('tool-calls', part)
}

function answer(reason, part) {
  const finishReason = { unified: reason, raw: undefined }
  return { content: [part], finishReason, usage: tokens(), warnings: [] }
}

function streamed(text) {
  const id = '1'
  const finishReason = { unified: 'stop', raw: undefined }
  const chunks = [
    { type: 'stream-start', warnings: [] },
    { type: 'text-start', id },
    { type: 'text-delta', id, delta: text },
    { type: 'text-end', id },
    { type: 'finish', finishReason, usage: tokens() },
  ]
  return { stream: simulateReadableStream({ chunks }) }
}

function tokens() {
  return { inputTokens: { total: 10 }, outputTokens: { total: 2 } }
}
