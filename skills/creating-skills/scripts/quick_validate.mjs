#!/usr/bin/env node
// Usage: node quick_validate.mjs DIRECTORY…
// Says whether the skill in each directory is valid, as `skillrail validate` does, without anything
// installed: this one file can be copied anywhere. Needs Node 20 or newer. Exit code 0: all valid; 1: one
// is not; 2: wrong use. Generated from the sources of Skillrail: `npm run generate`.
// It contains js-yaml:
//
// (The MIT License)
//
// Copyright (C) 2011-2015 by Vitaly Puzrin
//
// Permission is hereby granted, free of charge, to any person obtaining a copy
// of this software and associated documentation files (the "Software"), to deal
// in the Software without restriction, including without limitation the rights
// to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
// copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions:
//
// The above copyright notice and this permission notice shall be included in
// all copies or substantial portions of the Software.
//
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
// FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
// AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
// LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
// OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
// THE SOFTWARE.

import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, posix, resolve } from "node:path";
import { isUtf8 } from "node:buffer";
// \0rolldown/runtime.js
var __esmMin = (fn, res, err) => () => {
	if (err) throw err[0];
	try {
		return fn && (res = fn(fn = 0)), res;
	} catch (e) {
		throw err = [e], e;
	}
};
// src/core/text.ts
/**
* Makes text from a skill, a tool or a model safe for a terminal: control characters, bidirectional
* overrides, invisible and tag characters become visible escapes such as `\x1b` or `\u{202e}`. Newlines and
* tabs stay; CRLF becomes a newline.
*/
function safeText(text) {
	if (ordinary.test(text) || !dangerous.test(text)) return text;
	return text.replaceAll("\r\n", "\n").replace(dangerousAll, escape);
}
/** {@link safeText} on one line: newlines and tabs become a single space. */
function safeLine(text) {
	return safeText(text).replace(/[\n\t]+/g, " ");
}
function escape(character) {
	const code = character.codePointAt(0) ?? 0;
	const digits = code.toString(16);
	return code < 256 ? `\\x${digits.padStart(2, "0")}` : `\\u{${digits}}`;
}
/** Estimates tokens without a tokenizer: four UTF-16 code units are one token, rounded up. */
function estimateTokens(text) {
	return Math.ceil(text.length / 4);
}
/**
* Returns the candidate that `word` probably means, or undefined if none is similar: at most a third of the
* word's characters may differ (insertions, deletions, replacements, swaps). Case, and `_` instead of `-`,
* make no difference. The first of several equally similar candidates takes precedence.
*/
function nearest(word, candidates) {
	const foldedWord = fold(word);
	let best;
	let bestDistance = Math.max(1, Math.floor(foldedWord.length / 3)) + 1;
	for (const candidate of candidates) {
		if (Math.abs(candidate.length - foldedWord.length) >= bestDistance) continue;
		const distance = editDistance(foldedWord, fold(candidate));
		if (distance < bestDistance) {
			best = candidate;
			bestDistance = distance;
		}
	}
	return best;
}
function didYouMean(word, candidates) {
	const suggestion = nearest(word, candidates);
	return suggestion === void 0 ? "" : `Did you mean ${suggestion}?`;
}
function fold(word) {
	return word.slice(0, 64).toLowerCase().replaceAll("_", "-");
}
function editDistance(a, b) {
	let beforeLast = [];
	let last = Array.from({ length: b.length + 1 }, (_, column) => column);
	for (let row = 1; row <= a.length; row++) {
		const current = [row];
		for (let column = 1; column <= b.length; column++) {
			const isSame = a[row - 1] === b[column - 1];
			let cost = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (isSame ? 0 : 1));
			const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
			if (row > 1 && column > 1 && isSwap) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
			current.push(cost);
		}
		beforeLast = last;
		last = current;
	}
	return at(last, b.length);
}
function at(row, index) {
	return row[index] ?? Infinity;
}
/** Returns a function for the places in one text. The lines are counted only once. */
function placesIn(text) {
	let starts;
	return (offset) => {
		starts ??= lineStarts(text);
		let low = 0;
		let high = starts.length - 1;
		while (low < high) {
			const middle = low + high + 1 >> 1;
			if ((starts[middle] ?? 0) <= offset) low = middle;
			else high = middle - 1;
		}
		return {
			line: low + 1,
			column: offset - (starts[low] ?? 0) + 1
		};
	};
}
function lineStarts(text) {
	const starts = [0];
	for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
	return starts;
}
var ordinary, invisible, dangerous, dangerousAll;
var init_text = __esmMin((() => {
	ordinary = /^[\t\n\u0020-\u007e]*$/;
	invisible = "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b\\u200c\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb\\ufffe\\uffff\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}|(?<!\\p{Extended_Pictographic}\\ufe0f?|\\p{Emoji_Modifier})\\u200d";
	dangerous = new RegExp(invisible, "u");
	dangerousAll = new RegExp(invisible, "gu");
	new RegExp("[\\u1100-\\u115f\\u2e80-\\u303e\\u3041-\\ua4cf\\ua960-\\ua97c\\uac00-\\ud7a3\\uf900-\\ufaff\\ufe10-\\ufe19\\ufe30-\\ufe6f\\uff01-\\uff60\\uffe0-\\uffe6\\u{16fe0}-\\u{18cff}\\u{1b000}-\\u{1b2ff}\\u{20000}-\\u{3fffd}]|\\p{Emoji_Presentation}|\\p{Emoji}\\ufe0f", "u");
}));
// src/core/errors.ts
function messageOf(error) {
	return error instanceof Error ? error.message : String(error);
}
function hasErrors(diagnostics) {
	return errorsIn(diagnostics).length > 0;
}
function errorsIn(diagnostics) {
	return diagnostics.filter(({ severity }) => severity === "error");
}
/** Total order for output: path, line, column, code, all by code point. */
function compareDiagnostics(a, b) {
	return compareText(a.path, b.path) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0) || compareText(a.code, b.code);
}
/** Code-point order, the same on every machine and locale. */
function compareText(a, b) {
	const length = Math.min(a.length, b.length);
	for (let index = 0; index < length; index++) {
		const unitA = a.charCodeAt(index);
		const unitB = b.charCodeAt(index);
		if (unitA !== unitB) return codePointRank(unitA) - codePointRank(unitB);
	}
	return a.length - b.length;
}
/** Compares values by one of their texts, in the order of {@link compareText}. */
function byText$1(key) {
	return (a, b) => compareText(a[key], b[key]);
}
/** Surrogates encode code points above U+FFFF, so they come after U+E000 to U+FFFF. */
function codePointRank(unit) {
	if (unit < 55296) return unit;
	return unit < 57344 ? unit + 8192 : unit - 2048;
}
var exitCode, SkillrailError, UsageError;
var init_errors = __esmMin((() => {
	exitCode = {
		done: 0,
		failed: 1,
		usage: 2,
		notFound: 3,
		refused: 4,
		budget: 5,
		waiting: 6,
		interrupted: 130
	};
	SkillrailError = class extends Error {
		code;
		hint;
		diagnostics;
		exitCode = exitCode.failed;
		constructor(facts) {
			super(facts.message, facts.cause === void 0 ? void 0 : { cause: facts.cause });
			this.name = new.target.name;
			this.code = facts.code;
			this.hint = facts.hint;
			this.diagnostics = facts.diagnostics ?? [];
		}
	};
	UsageError = class extends SkillrailError {
		exitCode = exitCode.usage;
	};
}));
// src/core/json.ts
init_errors();
/**
* Whether a value from JSON, YAML or TOML maps names to values: not a list, and not null. If the source
* determines the type of the members, pass it as type argument: `isObject<JsonValue>(document)`.
*/
function isObject(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
// src/core/api-options.ts
init_text();
const rule = {
	text: {
		form: "a text",
		fits: (value) => typeof value === "string"
	},
	texts: {
		form: "a list of texts",
		fits: isListOf((item) => typeof item === "string")
	},
	flag: {
		form: "true or false",
		fits: (value) => typeof value === "boolean"
	},
	object: {
		form: "an object",
		fits: isObject
	},
	callback: {
		form: "a function",
		fits: (value) => typeof value === "function"
	},
	amount: {
		form: "a number of at least 0",
		fits: (value) => typeof value === "number" && value >= 0
	},
	content: {
		form: "a text or its bytes",
		fits: (value) => typeof value === "string" || value instanceof Uint8Array
	},
	anything: {
		form: "anything",
		fits: () => true
	}
};
function required(value) {
	return {
		...value,
		isRequired: true
	};
}
function listOf$1(form, fits) {
	return {
		form: `a list of ${form}`,
		fits: isListOf(fits)
	};
}
function isListOf(fits) {
	return (value) => Array.isArray(value) && value.every(fits);
}
/**
* Returns options without those that are null, which means absent.
*
* @throws {UsageError} with the name of every unknown, missing or wrong option.
*/
function checkOptions(options, owner) {
	const problem = optionsProblem(options, owner);
	if (problem) throw new UsageError({
		code: "options-invalid",
		...problem
	});
	const present = { ...options };
	for (const [name, value] of Object.entries(present)) if (value === null) Reflect.deleteProperty(present, name);
	return present;
}
/** Returns all problems of the options, for an error; undefined if there are none. */
function optionsProblem(options, { of, rules, earlierNames = {} }) {
	const table = new Map(Object.entries(rules));
	const isInstance = isObject(options) && classOf(options) !== void 0;
	if (!isObject(options) || isInstance && Object.keys(options).length === 0) {
		const hint = `The fields are ${[...table.keys()].join(", ")}.`;
		return {
			message: `The options of ${of} must be an object, not ${kindOf(options)}.`,
			hint
		};
	}
	const hints = [];
	const problems = Object.entries(options).flatMap(([name, value]) => {
		const expected = table.get(name);
		if (expected) return value === void 0 || value === null || expected.fits(value) ? [] : [`\`${name}\` must be ${expected.form}, not ${kindOf(value)}`];
		hints.push(earlierNames[name] ?? (didYouMean(name, table.keys()) || `The options are ${[...table.keys()].join(", ")}.`));
		return [`there is no option \`${name}\``];
	});
	for (const [name, { isRequired, form }] of table) if (isRequired === true && (options[name] === void 0 || options[name] === null)) problems.push(`\`${name}\` is missing: ${form}`);
	if (problems.length === 0) return void 0;
	return {
		message: `The options of ${of} cannot be used: ${problems.join("; ")}.`,
		hint: [...new Set(hints)].join(" ") || void 0
	};
}
/** Returns the class of an object; undefined for a plain object, also from another realm. */
function classOf(value) {
	const prototype = Object.getPrototypeOf(value);
	const constructor = isObject(prototype) ? prototype["constructor"] : void 0;
	return typeof constructor !== "function" || constructor.name === "Object" ? void 0 : constructor.name;
}
/** @throws {UsageError} for an argument of a wrong kind. */
function checkArgument(value, subject, expected) {
	if (expected.fits(value)) return;
	const message = `${subject} must be ${expected.form}, not ${kindOf(value)}.`;
	throw new UsageError({
		code: "argument-invalid",
		message
	});
}
function kindOf(value) {
	if (value === void 0 || value === null) return String(value);
	if (Array.isArray(value)) return "a list";
	if (typeof value === "string") return value.length > 60 ? "a text" : JSON.stringify(value);
	if (typeof value === "number" || typeof value === "boolean") return String(value);
	if (typeof value !== "object") return `a ${typeof value}`;
	const name = classOf(value);
	return name === void 0 ? "an object" : `an instance of ${name}`;
}
// src/skill/variables.ts
/** The variables in the text of skills that a client documents. */
const skillVariables = [
	{
		placeholder: "${CLAUDE_SKILL_DIR}",
		value: "skill",
		client: "Claude Code"
	},
	{
		placeholder: "${CLAUDE_PROJECT_DIR}",
		value: "project",
		client: "Claude Code"
	},
	{
		placeholder: "${CLAUDE_SESSION_ID}",
		value: "session",
		client: "Claude Code"
	},
	{
		placeholder: "${CLAUDE_PLUGIN_ROOT}",
		value: "plugin",
		client: "Claude Code"
	},
	{
		placeholder: "${CLAUDE_PLUGIN_DATA}",
		value: void 0,
		client: "Claude Code"
	},
	{
		placeholder: "${CLAUDE_EFFORT}",
		value: void 0,
		client: "Claude Code"
	},
	{
		placeholder: "{baseDir}",
		value: "skill",
		client: "OpenClaw"
	}
];
new Map(skillVariables.map((variable) => [variable.placeholder, variable]));
/** Matches any of these variables; `${baseDir}` is a shell variable. */
const variablePattern = new RegExp(`(?<!\\$)(?:${skillVariables.map(({ placeholder }) => placeholder.replaceAll(/[${}]/g, "\\$&")).join("|")})`, "g");
// src/skill/arguments.ts
/**
* Returns positions in a body that are probably not placeholders: awk's `$1`, or a price such as
* `$5`. A skill that takes arguments declares them, has an `argument-hint`, or has `$ARGUMENTS` and
* positions that begin with `$0`.
*/
function doubtfulPositions(body, { names, hint = "" }) {
	const positions = [...body.matchAll(placeholders)].flatMap((match) => {
		const [placeholder, slashes = "", , position] = match;
		if (position === void 0 || slashes.length % 2 === 1) return [];
		const line = body.slice(0, match.index).split("\n").length;
		return [{
			placeholder: placeholder.slice(slashes.length),
			position: Number(position),
			line
		}];
	});
	const hintLength = hint.split(/\s+/).filter((word) => word !== "").length;
	let declaredCount = Math.max(names.length, hintLength);
	if (declaredCount === 0 && allArguments.test(body)) while (positions.some(({ position }) => position === declaredCount)) declaredCount++;
	const doubtful = positions.filter(({ position }) => position >= declaredCount);
	return [...new Map(doubtful.toReversed().map((one) => [one.placeholder, one])).values()].toSorted((a, b) => a.line - b.line || a.position - b.position).map(({ placeholder, line }) => ({
		placeholder,
		line
	}));
}
/**
* Groups: backslashes, N of `$ARGUMENTS[N]`, N of `$N`, a word that may begin with a name, a
* variable.
*/
const placeholders = new RegExp(String.raw`(?<!\\)(\\*)(?:\$(?:ARGUMENTS(?:\[(\d+)\]|(?![A-Za-z0-9_]))|(\d{1,2})(?![A-Za-z0-9_]|[.,]\d)|([A-Za-z_][A-Za-z0-9_-]*))|(${variablePattern.source}))`, "g");
const allArguments = /(?<!\\)(?:\\\\)*\$ARGUMENTS(?![A-Za-z0-9_])/;
const argumentNamePattern = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
// src/skill/references.ts
/** A longer line is data, not prose; scanning it could take long. */
const longestLine = 5e3;
/**
* Finds the files that the instructions refer to: relative Markdown links outside code, and bare
* paths below `scripts/`, `references/` or `assets/`, also in code, because code calls scripts. A
* target is reported once, where it occurs first.
*
* A path that is only an illustration is left out: one with a placeholder (`references/<topic>.md`,
* `assets/*.png`, `scripts/your-script.py`), one without a file extension outside `scripts/`, one
* below another directory (`my-skill/scripts/a.py`), one drawn in a directory tree, and every bare
* path in a fenced block that shows Markdown or YAML text.
*/
function findReferences(body) {
	if (!mayRefer(body)) return [];
	const references = /* @__PURE__ */ new Map();
	const add = (target, line, kind) => {
		if (!references.has(target)) references.set(target, {
			target,
			line,
			kind
		});
	};
	let fence;
	for (const [index, line] of body.split("\n").entries()) {
		if (line.length > longestLine) continue;
		const fenceMark = line.includes("```") || line.includes("~~~") ? fenceOf(line) : void 0;
		const isEnd = fenceMark?.language === "" && fenceMark.marker.startsWith(fence?.marker ?? "");
		if (fenceMark && (!fence || isEnd)) {
			fence = fence ? void 0 : fenceMark;
			continue;
		}
		if (!mayRefer(line)) continue;
		if (!fence) for (const target of linkTargets(line)) add(target, index + 1, "link");
		if (!fence || shellLanguages.has(fence.language)) for (const target of barePaths(line.replace(linkPattern, " "))) add(target, index + 1, "path");
	}
	return [...references.values()];
}
/** A cheap check, because nearly no line contains a reference. */
function mayRefer(text) {
	return [
		"](",
		"scripts/",
		"references/",
		"assets/"
	].some((part) => text.includes(part));
}
/** Languages of fenced blocks in which a path is a real call, not an illustration. */
const shellLanguages = /* @__PURE__ */ new Set([
	"",
	"bash",
	"sh",
	"shell",
	"console",
	"zsh",
	"powershell",
	"pwsh"
]);
function fenceOf(line) {
	const match = /^\s*(?:[-*+]\s+|\d+[.)]\s+|>\s?)*(`{3,}|~{3,})\s*([^\s`]*)/.exec(line);
	if (match === null) return void 0;
	const [, marker = "", language = ""] = match;
	return {
		marker,
		language: language.toLowerCase()
	};
}
const linkPattern = /\]\(\s*(?:<([^<>\n]+)>|([^\s()<>]+(?:\([^\s()]*\)[^\s()]*)*))[^)\n]{0,300}\)/g;
function linkTargets(line) {
	return [...withoutSpans(line).matchAll(linkPattern)].flatMap(([, angleTarget, bareTarget]) => {
		const target = decode$1((angleTarget ?? bareTarget ?? "").split(/[#?]/, 1)[0] ?? "").replace(/^\.\//, "");
		return isRelativeFile(target) ? [target] : [];
	});
}
/**
* Removes code spans: a span ends at the next run of as many backticks as it begins with. Linear.
*/
function withoutSpans(line) {
	const runs = [...line.matchAll(/`+/g)];
	const ahead = Map.groupBy(runs.toReversed(), ([{ length }]) => length);
	let prose = "";
	let from = 0;
	for (const { 0: marks, index } of runs) {
		const sameLength = ahead.get(marks.length) ?? [];
		sameLength.pop();
		const end = sameLength.at(-1);
		if (index < from || !end) continue;
		prose += line.slice(from, index);
		from = end.index + marks.length;
	}
	return prose + line.slice(from);
}
const barePattern = /(?<![\w./\\~${}<>@:*-])(?:\.\/)?((?:scripts|references|assets)\/[\w./-]*\w)(?![\w/<{*$[])/g;
function barePaths(line) {
	if (/[├└│┬─]/.test(line)) return [];
	return [...line.matchAll(barePattern)].flatMap(([, path = ""]) => isNamedFile(path) && !isPlaceholder(path) ? [path] : []);
}
/** Outside `scripts/` a word without an extension is a directory or prose. */
function isNamedFile(path) {
	return /\.[A-Za-z]\w{0,7}$/.test(path) || /^scripts\/[\w-]+$/.test(path) && /[-_]/.test(path);
}
function isRelativeFile(target) {
	const isElsewhere = /^(?:[a-z][a-z0-9+.-]*:|[/\\~#])/i.test(target);
	return /[./]/.test(target) && !isElsewhere && !isPlaceholder(target);
}
/** Whether a name is a placeholder that every reader recognises. */
function isPlaceholder(path) {
	if (/[<>{}*$[\]|…]|\.\.\./.test(path)) return true;
	return /(?:^|[/_.-])(?:example|your|my|foo|bar|xxx?|some|name|file\d?|path)(?=[/_.-]|$)/i.test(path);
}
function decode$1(target) {
	try {
		return decodeURIComponent(target);
	} catch {
		return target;
	}
}
// src/skill/advice.ts
init_errors();
init_text();
const lineLimit = 500;
const tokenLimit = 5e3;
function adviseOnSkill(reader, input) {
	const { text, at } = input.description;
	if (text !== void 0) adviseOnDescription(reader, text, at);
	adviseOnLength(reader, input);
	adviseOnReferences(reader, input);
	adviseOnChains(reader, input);
	adviseOnScripts(reader, input);
	adviseOnPositions(reader, input);
}
function adviseOnPositions(reader, input) {
	for (const { placeholder, line } of doubtfulPositions(input.body, input.arguments ?? { names: [] })) {
		const at = {
			line: input.bodyLine + line - 1,
			column: 1
		};
		const message = `\`${placeholder}\` is replaced when the skill is called with arguments.`;
		const hint = `Write \`\\${placeholder}\` if it is text; if it is a placeholder, declare \`arguments\`.`;
		reader.report("argument-unescaped", at, message, hint);
	}
}
function adviseOnLength(reader, input) {
	const body = input.body.trim();
	const at = {
		line: input.bodyLine,
		column: 1
	};
	const hint = "Move detail into files below `references/` and say when to read them.";
	const lines = body === "" ? 0 : body.split("\n").length;
	if (lines > lineLimit) {
		const message = `The body has ${lines} lines; ${lineLimit} are recommended at most.`;
		reader.report("body-too-many-lines", at, message, hint);
	}
	const tokens = estimateTokens(body);
	if (tokens > 5e3) {
		const message = `The body has about ${tokens} tokens; ${tokenLimit} are recommended at most.`;
		reader.report("body-too-many-tokens", at, message, hint);
	}
}
function adviseOnReferences(reader, { body, bodyLine, files }) {
	const paths = files && pathsOf(files);
	for (const { target, line } of findReferences(body)) {
		const at = {
			line: bodyLine + line - 1,
			column: 1
		};
		const refers = `The body refers to \`${target}\``;
		const path = posix.join(".", target).replace(/\/$/, "").replace(/^\.$/, "");
		if (/^\.\.(?:\/|$)/.test(path)) reader.report("reference-outside", at, `${refers}, outside the skill.`);
		else if (paths && !paths.has(path)) reader.report("reference-missing", at, `${refers}, which does not exist.`);
		else if (path.split("/").length > 2) reader.report("reference-deep", at, `${refers}, more than one level deep.`);
	}
}
/** Advises on documents that a model finds only through another document. */
function adviseOnChains(reader, { body, bodyLine, files, readFile }) {
	if (!files || !readFile) return;
	const paths = pathsOf(files);
	const references = findReferences(body).map(({ target, line }) => {
		return {
			path: posix.join(".", target),
			at: {
				line: bodyLine + line - 1,
				column: 1
			}
		};
	});
	const visited = /* @__PURE__ */ new Set(["SKILL.md", ...references.map(({ path }) => path)]);
	for (const { path, at } of references) {
		const text = isDocument(path) && paths.has(path) ? readFile(path) : void 0;
		for (const { target } of findReferences(text ?? "")) {
			const next = [posix.join(posix.dirname(path), target), posix.join(".", target)].find((one) => paths.has(one));
			if (next === void 0 || !isDocument(next) || visited.has(next)) continue;
			visited.add(next);
			const message = `\`${path}\` refers on to \`${next}\`, which the body does not name.`;
			reader.report("reference-chain", at, message, "Name it in the body, too.");
		}
	}
}
function isDocument(path) {
	return /\.(?:mdx?|markdown|txt)$/i.test(path);
}
function pathsOf(files) {
	const paths = /* @__PURE__ */ new Set(["", "SKILL.md"]);
	for (const { path } of files) {
		for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) paths.add(path.slice(0, at));
		paths.add(path);
	}
	return paths;
}
/**
* A shell script or a script without an extension is started by its path, so it must be executable.
*/
function adviseOnScripts(reader, { body, bodyLine, files = [] }) {
	for (const file of files.toSorted(byText$1("path"))) {
		const { path } = file;
		if (!/^scripts\/[^/.]+(?:\.(?:sh|bash|zsh))?$/.test(path) || /\/(?:README|LICENSE|Makefile)$/i.test(path)) continue;
		if (file.executable || isHandedOver(body, path)) continue;
		const hint = `Run \`chmod +x ${path}\` in the directory of the skill.`;
		reader.report("script-not-executable", {
			line: bodyLine,
			column: 1
		}, `\`${path}\` is not executable.`, hint);
	}
}
function isHandedOver(body, path) {
	const interpreter = /\b(?:ba|z|k|da)?sh\s+(?:-\w+\s+)*["']?(?:[\w./${}-]*\/)?$|\bsource\s+$/;
	return body.split(path).slice(0, -1).some((textBefore) => interpreter.test(textBefore.slice(-80)));
}
function adviseOnDescription(reader, text, at) {
	const person = wrongPerson(text);
	if (person) {
		const message = `The description is in the ${person} person.`;
		reader.report("description-person", at, message, "Write \"Extracts …\", not \"I extract …\".");
	}
	if (isVague(text)) reader.report("description-vague", at, "The description is too short to select the skill.");
	if (!occasion.test(text)) reader.report("description-no-occasion", at, "The description does not say when to use the skill.", "Add a sentence such as \"Use when …\".");
}
/**
* Phrases with which a description says when to use the skill: "Use when", "when the user", "if …".
*/
const occasion = /\b(?:when(?:ever)?|if|during|before|after|while|trigger(?:s|ed)?|activate[sd]?|invoke[sd]?|whether)\b|\b(?:us(?:e|ed|eful)|need(?:ed)?|helpful|ideal|suitable|designed|intended|appl(?:y|ies)|invoke|covers|should be used)\s+(?:(?:this|it|proactively|skill)\s+)*(?:for|to|with|in|by|as)\b|\b(?:asks?|asked|wants?|needs?|mentions?|requests?|says?)\b|\bin (?:case|response|situations)\b|\bon (?:request|demand)\b/i;
/**
* A short description with fewer than four meaningful words does not distinguish one skill from a hundred
* others.
*/
function isVague(text) {
	if (/[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]/.test(text)) return Array.from(text).length < 12;
	const realWords = text.toLowerCase().split(/[\s"'(),.:;!?/<>`[\]{}]+/).filter((word) => /[a-z0-9\u00c0-\uffff]/.test(word));
	return realWords.filter((word) => !emptyWords.has(word)).length < 4 && realWords.length < shortDescription;
}
/** Number of words. The specification's minimal example of a description has twelve. */
const shortDescription = 10;
const emptyWords = new Set("a an and any are as at by can do does for from helps help helper in is it its of on or skill that the this thing things to tool use used useful various with work working works stuff your".split(" "));
function wrongPerson(text) {
	const ownWords = text.replace(/"[^"]*"|“[^”]{0,400}”|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g, " ");
	if (/(?:^|[.!?:]\s+)(?:I|We)\s+(?:can|will|am|are|help|\w+)\b|\bI(?:'ll|'m)\b/.test(ownWords)) return "first";
	return /(?:^|[.!?:]\s+)(?:You|Your)\b/.test(ownWords) || /\b(?:helps?|lets?|allows?) you\b/i.test(ownWords) ? "second" : void 0;
}
// src/skill/allowed-tools.ts
/**
* Parses `allowed-tools` in every form that is in use: one string separated by spaces or commas, or a list
* of such strings. Separators inside parentheses belong to the pattern: `Bash(git add:*, git rm:*)` is one
* tool. `mcp__server__tool`, `Server/tool` and `Server:tool` are names like any other.
*
* If a parenthesis is never closed, the rest is the pattern; `validate` reports that.
*/
function parseAllowedTools(value) {
	return texts(value).flatMap((text) => splitTools(text).tools);
}
function isBalanced(value) {
	return texts(value).every((text) => splitTools(text).balanced);
}
function hasCommas(text) {
	return splitTools(text).commas;
}
function texts(value) {
	if (typeof value === "string") return [value];
	if (value.kind === "scalar") return value.value === null ? [] : [value.text];
	if (value.kind === "list") return value.items.flatMap((item) => texts(item));
	return [];
}
function splitTools(text) {
	const tools = [];
	let depth = 0;
	let word = "";
	let isBalanced = true;
	let commas = false;
	const finish = () => {
		if (word !== "") tools.push(readTool(word));
		word = "";
	};
	for (const character of text) {
		if (character === "(") depth++;
		if (character === ")" && --depth < 0) {
			depth = 0;
			isBalanced = false;
		}
		if (depth === 0 && character === ",") commas = true;
		if (depth === 0 && (character === "," || /\s/.test(character))) finish();
		else word += character;
	}
	finish();
	return {
		tools,
		balanced: isBalanced && depth === 0,
		commas
	};
}
function readTool(word) {
	const open = word.indexOf("(");
	if (open <= 0) return { tool: word };
	const close = word.endsWith(")") ? word.length - 1 : word.length;
	return {
		tool: word.slice(0, open),
		pattern: word.slice(open + 1, close).trim()
	};
}
// src/skill/field-table.ts
/** The values of `early_exit_on` and `retry_until`; the first is the default. */
const earlyExits = [
	"none",
	"failure",
	"success",
	"critical"
];
const retryEnds = [
	"none",
	"stable",
	"success"
];
const specification = "https://agentskills.io/specification";
const claude = "https://code.claude.com/docs/en/skills";
const cursor = "https://cursor.com/docs/context/skills";
const prd$1 = "Skillrail extension (skills and subagents)";
const chaining$1 = "Skillrail extension (skill chaining)";
function fieldsOf(owner, placement, source) {
	return (name, kind, constraint, more = {}) => {
		return {
			name,
			owner,
			clients: [],
			placement,
			kind,
			constraint,
			source,
			...more
		};
	};
}
const extension = fieldsOf("skillrail", "either", prd$1);
const execution = fieldsOf("skillrail", "either", "Skillrail extension (execution)");
const policy = fieldsOf("skillrail", "metadata", chaining$1);
function specificationField(name, kind, constraint) {
	return fieldsOf("specification", "top", `${specification}#${name}-field`)(name, kind, constraint);
}
function foreign(name, clients, constraint, source) {
	return fieldsOf("client", "top", source)(name, "any", constraint, { clients });
}
/** Every field that Skillrail knows, in the order in which it writes them. */
const fieldTable = [
	specificationField("name", "text", "1 to 64 of a-z, 0-9 and single hyphens; the directory name."),
	specificationField("description", "text", "1 to 1,024 characters: what it does and when to use it."),
	specificationField("license", "text", "Name of a licence or of a bundled licence file."),
	specificationField("compatibility", "text", "1 to 500 characters: product, packages, network."),
	specificationField("allowed-tools", "tools", "Pre-approved tools, separated by spaces."),
	specificationField("metadata", "map", "A map from string keys to string values."),
	fieldsOf("skillrail", "either", "Skillrail extension (deterministic progressive disclosure)")("triggers", "triggers", "List of { match | examples | paths | command | tool, inject }, or lines of `PATTERN => FILE`."),
	execution("run", "path", "The script that executes the skill."),
	execution("sandbox", "boolean", "`true` runs its scripts in a sandbox, trusted or not."),
	extension("model", "text", "The model that executes the skill.", { clients: ["Claude Code"] }),
	extension("context", "choice", "`fork` executes the skill in a subagent.", {
		choices: ["fork"],
		clients: ["Claude Code", "OpenCode"]
	}),
	extension("agent", "text", "The subagent that executes a forked skill.", { clients: ["Claude Code"] }),
	extension("disable-model-invocation", "boolean", "`true` keeps it from the model. Default false.", { clients: [
		"Claude Code",
		"VS Code",
		"Cursor",
		"pi"
	] }),
	extension("user-invocable", "boolean", "`false` keeps it from the user. Default true.", { clients: ["Claude Code", "VS Code"] }),
	extension("argument-hint", "text", "Shown to the user after the name of the skill.", { clients: [
		"Claude Code",
		"VS Code",
		"Goose"
	] }),
	extension("arguments", "names", "Names for `$name` placeholders: a list, or separated by spaces.", { clients: ["Claude Code", "Goose"] }),
	extension("hooks", "hooks", "A map of lifecycle hooks, or the same as JSON text.", { clients: ["Claude Code"] }),
	policy("chain", "chain", "Names of skills in order, or a step a line with its options."),
	policy("gates", "names", "Steps that wait for approval."),
	policy("guards", "choice", "`always`: its guards apply in the project without a rail, too.", { choices: ["always"] }),
	policy("require_verified", "boolean", "A success needs a check. Default false."),
	policy("async", "boolean", "Run the steps at the same time. Default false."),
	policy("continue_on_error", "boolean", "Continue after a failed step. Default true."),
	policy("timeout", "integer", "Seconds that a step may take; 0 means no limit. Default 0.", { minimum: 0 }),
	policy("max_depth", "integer", "How deep chains may nest. Default 10.", { minimum: 1 }),
	policy("parallel_limit", "integer", "Steps at once with `async`. Default 5.", { minimum: 1 }),
	policy("validate_on_load", "boolean", "Check that every step exists. Default true."),
	policy("cleanup_after", "boolean", "Remove state when the chain is done. Default false."),
	policy("early_exit_on", "choice", "Stop at the first such result. Default none.", { choices: earlyExits }),
	policy("continue_on_success", "boolean", "Skip after a step that failed. Default false."),
	policy("pass_state", "boolean", "Give each step the results before it. Default true."),
	policy("retry_count", "integer", "Maximum number of attempts of the chain. Default 1.", { minimum: 1 }),
	policy("retry_until", "choice", "Repeat until this is reached. Default none.", { choices: retryEnds }),
	policy("race_mode", "boolean", "The first success ends the group; only with `async`. Default false."),
	foreign("disallowed-tools", ["Claude Code"], "Tools taken away while the skill is active.", claude),
	foreign("when_to_use", ["Claude Code"], "Added to the description in the catalogue.", claude),
	foreign("effort", ["Claude Code"], "Reasoning effort, `low` to `max`.", claude),
	foreign("background", ["Claude Code"], "Runs a forked skill in the background.", claude),
	foreign("paths", ["Claude Code", "Cursor"], "Globs of files the skill belongs to.", claude),
	foreign("shell", ["Claude Code"], "The shell of embedded commands.", claude),
	foreign("globs", ["Cursor"], "The older name of `paths`.", cursor),
	foreign("icon", ["Cursor"], "The badge of a custom mode.", cursor),
	foreign("color", ["Cursor"], "The colour of a custom mode.", cursor)
];
const topFields = fieldsBeside("metadata");
const metadataFields = fieldsBeside("top");
function fieldsBeside(other) {
	const fields = fieldTable.filter(({ placement }) => placement !== other);
	return new Map(fields.map((field) => [field.name, field]));
}
matching(/^(?!\/|[A-Za-z]:)(?!(?:.*\/)?\.\.(?:\/|$))[^\\]+$/);
function matching({ source }) {
	return {
		type: "string",
		pattern: source
	};
}
// src/skill/rules.ts
function section(name) {
	return `https://agentskills.io/specification#${name}`;
}
function group(severity, source, sentences) {
	return {
		severity,
		source,
		sentences
	};
}
function finding(code, path, at, message, hint) {
	const { severity = "error", source } = ruleOf.get(code) ?? {};
	return {
		code,
		severity,
		message,
		path,
		line: at?.line,
		column: at?.column,
		hint,
		source
	};
}
var referenceSource, yaml12, limit, ownFields, chaining, prd, disclosure, rules, validationRules, ruleOf;
var init_rules = __esmMin((() => {
	referenceSource = "https://github.com/agentskills/agentskills/tree/main/skills-ref";
	yaml12 = "https://yaml.org/spec/1.2.2/";
	limit = "Skillrail: protection against hostile files";
	ownFields = "Skillrail: fields of the frontmatter";
	chaining = "Skillrail extension (skill chaining)";
	prd = "Skillrail extension (skills and subagents)";
	disclosure = "Skillrail extension (deterministic progressive disclosure)";
	rules = [
		group("error", section("skill-md-format"), {
			"file-not-utf8": "A `SKILL.md` is UTF-8 text.",
			"file-nul": "A `SKILL.md` contains no NUL character."
		}),
		group("error", section("progressive-disclosure"), { "file-too-large": "A `SKILL.md` has at most 1 MiB." }),
		group("warning", section("description-field"), {
			"catalogue-cut": "No client cuts the description.",
			"description-shared": "No two skills have the same description."
		}),
		group("warning", disclosure, { "example-shared": "No two skills have the same example of a prompt." }),
		group("warning", section("frontmatter"), {
			"byte-order-mark": "A `SKILL.md` has no byte order mark.",
			"text-unquoted": "A text that YAML does not read as one is quoted.",
			"text-cut": "No part of a value is a comment.",
			"yaml-unquoted": "A value that YAML cannot read is quoted.",
			"unknown-field": "A field is known."
		}),
		group("error", section("frontmatter"), {
			"frontmatter-missing": "A `SKILL.md` begins with a line `---`.",
			"frontmatter-unclosed": "The frontmatter ends with a line `---`.",
			"frontmatter-too-large": "A frontmatter has at most 64 KiB.",
			"frontmatter-empty": "A frontmatter has at least `name` and `description`.",
			"frontmatter-not-mapping": "A frontmatter is a YAML mapping."
		}),
		group("error", yaml12, { "yaml-syntax": "The frontmatter is valid YAML." }),
		group("error", `${yaml12}#chapter-9-document-stream-productions`, { "yaml-several-documents": "The frontmatter is one YAML document." }),
		group("error", `${yaml12}#mapping`, { "yaml-duplicate-key": "No mapping has a key twice." }),
		group("error", section("metadata-field"), {
			"yaml-key-form": "A key is one scalar, not a list or a mapping.",
			"metadata-nested": "`metadata` contains no list or map."
		}),
		group("error", limit, {
			"yaml-reserved-key": "No key is `__proto__`, `constructor` or `prototype`.",
			"yaml-anchor": "The frontmatter has no anchors and no aliases.",
			"yaml-tag": "The frontmatter has no tags.",
			"yaml-too-deep": "Lists and mappings are nested at most 32 levels.",
			"yaml-too-many-keys": "A frontmatter has at most 4,000 keys."
		}),
		group("error", referenceSource, {
			"yaml-flow-collection": "There is no `[…]` and no `{…}`.",
			"yaml-indentation": "Mappings inside one mapping are indented alike.",
			"name-empty": "A name is a string that is not blank.",
			"description-empty": "A description is a string that is not blank.",
			"compatibility-type": "`compatibility` is a string.",
			"reference-crash": "The reference validator can read it."
		}),
		group("error", section("name-field"), {
			"name-missing": "Every skill has a `name` that is not empty.",
			"name-too-long": "A name has at most 64 characters.",
			"name-uppercase": "A name is written in lower case.",
			"name-characters": "A name contains letters, digits and hyphens.",
			"name-hyphen-edge": "A name begins and ends without a hyphen.",
			"name-hyphen-double": "A name does not contain two hyphens in a row.",
			"name-directory-mismatch": "A skill has the name of its directory.",
			"skill-conflict": "No two different skills in one place have the same name."
		}),
		group("warning", section("name-field"), { "name-unicode": "A name has no letters outside a-z." }),
		group("error", section("description-field"), {
			"description-missing": "Every skill has a `description` that is not empty.",
			"description-too-long": "A description has at most 1,024 characters."
		}),
		group("error", section("compatibility-field"), {
			"compatibility-empty": "`compatibility` is not empty if it is set.",
			"compatibility-too-long": "A `compatibility` has at most 500 characters."
		}),
		group("warning", section("allowed-tools-field"), { "allowed-tools-form": "`allowed-tools` is one string, separated by spaces." }),
		group("error", section("allowed-tools-field"), { "allowed-tools-unbalanced": "Every parenthesis in `allowed-tools` is closed." }),
		group("warning", section("metadata-field"), {
			"metadata-not-string": "Values below `metadata` are strings.",
			"metadata-nested-extension": "An extension below `metadata` has its string form."
		}),
		group("info", section("frontmatter"), { "client-field": "A field is not that of one client." }),
		group("error", ownFields, {
			"field-type": "A field has its type.",
			"field-value": "A field has an allowed value.",
			"path-outside": "A path stays inside the skill."
		}),
		group("warning", ownFields, {
			"field-empty": "A field that is set has a value.",
			"field-twice": "An extension is set at one level only."
		}),
		group("warning", chaining, {
			"field-placement": "A chain and its policy are below `metadata`.",
			"chain-empty": "A chain names at least one skill.",
			"chain-unknown-key": "Every key next to a chain is known.",
			"chain-tool-name": "A `guard` and `tools` name tools.",
			"chain-tool-pattern": "A pattern of `Bash` is the words of one command.",
			"chain-tools-guard": "The `tools` of a step allow what its `guard` names."
		}),
		group("warning", prd, { "argument-hint-list": "An `argument-hint` in brackets is quoted." }),
		group("error", prd, { "argument-name": "An argument name is valid and occurs once." }),
		group("error", chaining, {
			"chain-step-name": "The skill of a step is next to or below its chain.",
			"chain-gate-unknown": "A gate names a step of its chain.",
			"chain-step-form": "A line of a chain is a step, or steps joined by `&`.",
			"chain-when-unknown": "A condition names a step of an earlier line.",
			"chain-rework": "`rework` is on a step with a gate and names a step of an earlier line.",
			"chain-control-key": "A chain is controlled by its own keys."
		}),
		group("error", disclosure, { "trigger-form": "A trigger has one occasion and one `inject`." }),
		group("warning", disclosure, { "trigger-unknown-key": "A key of a trigger is known." }),
		group("info", section("progressive-disclosure"), {
			"body-too-many-lines": "A `SKILL.md` stays under 500 lines.",
			"body-too-many-tokens": "The instructions stay under 5,000 tokens."
		}),
		group("info", section("description-field"), {
			"description-no-occasion": "A description says when to use the skill.",
			"description-vague": "A description is specific.",
			"description-person": "A description is written in the third person."
		}),
		group("info", section("file-references"), {
			"reference-missing": "A file that the body names exists.",
			"reference-outside": "A file that the body names is inside the skill.",
			"reference-chain": "A document that a reference names is named in the body, too.",
			"reference-deep": "A file that the body names is one level deep."
		}),
		group("info", prd, { "argument-unescaped": "A `$1` that is text and not a placeholder is written `\\$1`." }),
		group("info", section("scripts"), { "script-not-executable": "A script has the run bit." })
	];
	validationRules = rules.flatMap(({ sentences, ...facts }) => Object.entries(sentences).map(([code, sentence]) => ({
		code,
		sentence,
		...facts
	})));
	ruleOf = new Map(validationRules.map((rule) => [rule.code, rule]));
}));
// src/skill/field-values.ts
init_text();
init_rules();
/** Reads fields: an absent or invalid value is undefined, and an invalid one gets a diagnostic. */
var FieldReader = class {
	#path;
	#diagnostics;
	constructor(path, diagnostics) {
		this.#path = path;
		this.#diagnostics = diagnostics;
	}
	report(code, at, message, hint) {
		this.#diagnostics.push(finding(code, this.#path, at, message, hint || void 0));
	}
	/**
	* Returns the text of a scalar. An empty plain value or `null` is undefined, `null` in quotes is
	* text.
	*/
	text(field, node) {
		if (!node || isNull(node)) return void 0;
		if (node.kind === "scalar") return node.text.trim() || void 0;
		const message = `\`${field}\` is ${describe(node)}, and a text is required.`;
		return this.report("field-type", node, message);
	}
	/** Reads `true`, `false`, and the words that mean the same to YAML 1.1 and Claude Code. */
	boolean(field, node) {
		if (!node || isNull(node)) return void 0;
		const word = node.kind === "scalar" ? node.text.trim().toLowerCase() : "";
		if ([
			"true",
			"yes",
			"on",
			"1"
		].includes(word)) return true;
		if ([
			"false",
			"no",
			"off",
			"0"
		].includes(word)) return false;
		const message = `\`${field}\` is ${describeValue(node)}; it must be true or false.`;
		return this.report("field-type", node, message);
	}
	integer(field, node, minimum) {
		if (!node || isNull(node)) return void 0;
		const text = node.kind === "scalar" ? node.text.trim() : "";
		const isNumber = node.kind === "scalar" && typeof node.value === "number";
		const isDigits = /^[+-]?\d+$/.test(text);
		const number = isNumber ? Number(node.value) : Number(isDigits ? text : NaN);
		if (Number.isSafeInteger(number) && number >= minimum) return number;
		const code = isDigits || Number.isSafeInteger(number) ? "field-value" : "field-type";
		const requirement = `a whole number of at least ${minimum}`;
		return this.report(code, node, `\`${field}\` is ${describeValue(node)}; it must be ${requirement}.`);
	}
	choice(field, node, choices) {
		const text = this.text(field, node);
		const word = choices.find((choice) => choice === text);
		if (word !== void 0 || text === void 0 || !node) return word;
		const message = `\`${field}\` is \`${text}\`; it must be ${choices.map((choice) => `\`${choice}\``).join(", ")}.`;
		return this.report("field-value", node, message, didYouMean(text, choices));
	}
	/** Reads words from a list, or from one string separated by spaces or commas. */
	words(field, node) {
		if (!node || isNull(node)) return [];
		if (node.kind === "scalar") return node.text.split(/[\s,]+/).filter((word) => word !== "").map((text) => ({
			text,
			node
		}));
		if (node.kind === "map") {
			const message = `\`${field}\` is a map, and a list of names is required.`;
			return this.report("field-type", node, message);
		}
		const words = node.items.flatMap((item) => {
			const text = item.kind === "scalar" ? item.text.trim() : "";
			if (text !== "") return [{
				text,
				node: item
			}];
			const form = item.kind === "scalar" ? "empty" : describe(item);
			this.report("field-type", item, `An entry of \`${field}\` is ${form}; it must be a name.`);
			return [];
		});
		return words.length === node.items.length ? words : void 0;
	}
	/** Reads a path below the skill's directory; the path is not resolved on the disk. */
	path(field, node) {
		const text = this.text(field, node);
		if (text === void 0 || !node || staysInside(text)) return text;
		const message = `\`${field}\` is \`${text}\`, which is not a relative path inside the skill.`;
		return this.report("path-outside", node, message);
	}
};
/** Whether the text of a relative path never leaves its directory. */
function staysInside(path) {
	if (path === "" || /^\/|[\\\0]|^[a-z]:/i.test(path)) return false;
	return !path.split("/").includes("..");
}
function isNull(node) {
	return node.kind === "scalar" && node.style === "plain" && node.value === null;
}
function describe(node) {
	if (node.kind === "map") return "a map";
	return node.kind === "list" ? "a list" : "a text";
}
function describeValue(node) {
	return node.kind === "scalar" ? `\`${node.text.trim()}\`` : describe(node);
}
// src/core/fits-text.ts
/** Whether a text matches a pattern, in which `*` means any characters. */
function fitsText(text, pattern) {
	const parts = pattern.split("*");
	const [first = ""] = parts;
	if (!text.startsWith(first)) return false;
	if (parts.length === 1) return text === first;
	let from = first.length;
	const last = parts.at(-1) ?? "";
	for (const part of parts.slice(1, -1)) {
		const at = text.indexOf(part, from);
		if (at < 0) return false;
		from = at + part.length;
	}
	return text.length - last.length >= from && text.endsWith(last);
}
// src/skill/step-tools.ts
init_text();
/** Reads `guard` and `tools` of one step. */
function toolProblems({ guard, tools }) {
	const guardedTools = guard === void 0 ? [] : parseAllowedTools(guard);
	const allowedTools = tools === void 0 ? [] : parseAllowedTools(tools);
	return [
		...problemsOf("guard", guardedTools),
		...problemsOf("tools", allowedTools),
		...tools === void 0 ? [] : excludedCalls(guardedTools, allowedTools)
	];
}
/** The tools that Skillrail knows on every client, by their common names. */
const commonTools = [
	"Bash",
	"Edit",
	"NotebookEdit",
	"Read",
	"Skill",
	"Write"
];
/** Shell syntax: a pattern is compared with the words of one command, which contain none. */
const shellSyntax = /["'`\\;|&<>$()\n]|^[\w*]+\+?=/;
function problemsOf(option, entries) {
	const words = entries.filter(({ tool, pattern }) => pattern === void 0 && /^[a-z-]+$/.test(tool));
	const isCommand = ({ tool }) => commonTools.every((name) => name.toLowerCase() !== tool);
	const command = option === "guard" && words.length > 1 && words.every(isCommand);
	const asCommand = words.map(({ tool }) => tool).join(" ");
	return [...command ? [{
		code: "chain-tool-name",
		message: `\`${option}\` names the tools \`${words.map(({ tool }) => tool).join("` and `")}\`, which no client is known to have.`,
		hint: `For a command, write \`Bash(${asCommand}:*)\`.`
	}] : [], ...entries.flatMap((entry) => entryProblem(option, entry) ?? [])];
}
function entryProblem(option, { tool, pattern }) {
	const toolText = pattern === void 0 ? tool : `${tool}(${pattern})`;
	if (tool.startsWith("(")) return {
		code: "chain-tool-name",
		message: `\`${option}\` has \`${toolText}\`, which names no tool.`,
		hint: "Write `Bash(git push:*)`."
	};
	if (/^mcp/i.test(tool) && !/^mcp__[^_]/.test(tool)) return {
		code: "chain-tool-name",
		message: `\`${option}\` has \`${toolText}\`, which is not the name of an MCP tool.`,
		hint: "Write `mcp__SERVER__TOOL`."
	};
	const near = commonTools.filter((name) => editDistance(name.toLowerCase(), tool.toLowerCase()) === 1);
	if (near.length > 0 && tool.length > 3) return {
		code: "chain-tool-name",
		message: `\`${option}\` has \`${toolText}\`, which no client is known to have.`,
		hint: didYouMean(tool, near)
	};
	if (tool.toLowerCase() === "bash" && pattern !== void 0 && shellSyntax.test(pattern)) return {
		code: "chain-tool-pattern",
		message: `\`${option}\` has \`${toolText}\`, which no command matches: a pattern is compared with the words of each command of a line.`,
		hint: "Write the words as the program gets them, without quotes, variables and operators."
	};
}
/**
* Returns a problem for each call that only this step may make but that its list of tools denies.
*/
function excludedCalls(guardedTools, allowedTools) {
	return guardedTools.filter((call) => !allowedTools.some((entry) => overlaps(entry, call))).map(({ tool, pattern }) => {
		const call = pattern === void 0 ? tool : `${tool}(${pattern})`;
		return {
			code: "chain-tools-guard",
			message: `\`tools\` does not allow \`${call}\`, which \`guard\` keeps for this step: nothing can make the call.`,
			hint: `Add \`${call}\` to \`tools\`, or remove it from \`guard\`.`
		};
	});
}
function overlaps(one, other) {
	const [a = "", b = ""] = [one.tool, other.tool].map((name) => name.toLowerCase());
	const isServer = (short, long) => short.startsWith("mcp__") && long.startsWith(`${short}__`);
	if (!meet(a, b) && !isServer(a, b) && !isServer(b, a)) return false;
	if (one.pattern === void 0 || other.pattern === void 0) return true;
	const [first, second] = [one.pattern, other.pattern].map((text) => text.replace(/(?::| )\*$/, "*"));
	return meet(first ?? "", second ?? "");
}
/**
* Whether some text may match both patterns, by the texts before and after their `*`.
*/
function meet(a, b) {
	if (!a.includes("*")) return fitsText(a, b);
	if (!b.includes("*")) return fitsText(b, a);
	const [headA = "", headB = ""] = [a, b].map((text) => text.slice(0, text.indexOf("*")));
	const [tailA = "", tailB = ""] = [a, b].map((text) => text.slice(text.lastIndexOf("*") + 1));
	return (headA.startsWith(headB) || headB.startsWith(headA)) && (tailA.endsWith(tailB) || tailB.endsWith(tailA));
}
// node_modules/js-yaml/dist/js-yaml.mjs
/*! js-yaml 5.5.0 https://github.com/nodeca/js-yaml @license MIT */
/**
* Returned by a scalar resolver when the source does not match its tag.
*
* @category Tags
*/
var NOT_RESOLVED = Symbol("NOT_RESOLVED");
/**
* Create a normalized scalar tag definition.
*
* @category Tags
*/
function defineScalarTag(tagName, options) {
	return {
		tagName,
		nodeKind: "scalar",
		implicit: options.implicit ?? false,
		matchByTagPrefix: options.matchByTagPrefix ?? false,
		implicitFirstChars: options.implicitFirstChars ?? null,
		resolve: options.resolve,
		identify: options.identify,
		represent: options.represent ?? ((data) => String(data)),
		representTagName: options.representTagName ?? (() => tagName)
	};
}
/**
* Create a normalized sequence tag definition.
*
* @category Tags
*/
function defineSequenceTag(tagName, options) {
	return {
		tagName,
		nodeKind: "sequence",
		implicit: false,
		matchByTagPrefix: options.matchByTagPrefix ?? false,
		create: options.create,
		addItem: options.addItem,
		finalize: options.finalize ?? ((carrier) => carrier),
		carrierIsResult: options.finalize === void 0,
		identify: options.identify,
		represent: options.represent ?? ((data) => data),
		representTagName: options.representTagName ?? (() => tagName)
	};
}
/**
* Create a normalized mapping tag definition.
*
* @category Tags
*/
function defineMappingTag(tagName, options) {
	return {
		tagName,
		nodeKind: "mapping",
		implicit: false,
		matchByTagPrefix: options.matchByTagPrefix ?? false,
		create: options.create,
		addPair: options.addPair,
		has: options.has,
		keys: options.keys,
		get: options.get,
		finalize: options.finalize ?? ((carrier) => carrier),
		carrierIsResult: options.finalize === void 0,
		identify: options.identify,
		represent: options.represent ?? ((data) => data),
		representTagName: options.representTagName ?? (() => tagName)
	};
}
/** @category Tags */
var strTag = defineScalarTag("tag:yaml.org,2002:str", {
	resolve: (source) => source,
	identify: (data) => typeof data === "string"
});
var NULL_VALUES$1 = [
	"",
	"~",
	"null",
	"Null",
	"NULL"
];
/** @category Tags */
var nullCoreTag = defineScalarTag("tag:yaml.org,2002:null", {
	implicit: true,
	implicitFirstChars: [
		"",
		"~",
		"n",
		"N"
	],
	resolve: (source) => {
		if (NULL_VALUES$1.indexOf(source) !== -1) return null;
		return NOT_RESOLVED;
	},
	identify: (object) => object === null,
	represent: () => "null"
});
/** @category Tags */
var nullJsonTag = defineScalarTag("tag:yaml.org,2002:null", {
	implicit: true,
	implicitFirstChars: ["n"],
	resolve: (source, isExplicit) => {
		if (source === "null" || isExplicit && source === "") return null;
		return NOT_RESOLVED;
	},
	identify: (object) => object === null,
	represent: () => "null"
});
var NULL_VALUES = [
	"",
	"~",
	"null",
	"Null",
	"NULL"
];
/** @category Tags */
var nullYaml11Tag = defineScalarTag("tag:yaml.org,2002:null", {
	implicit: true,
	implicitFirstChars: [
		"",
		"~",
		"n",
		"N"
	],
	resolve: (source) => {
		if (NULL_VALUES.indexOf(source) !== -1) return null;
		return NOT_RESOLVED;
	},
	identify: (object) => object === null,
	represent: () => "null"
});
var TRUE_VALUES$2 = [
	"true",
	"True",
	"TRUE"
];
var FALSE_VALUES$2 = [
	"false",
	"False",
	"FALSE"
];
/** @category Tags */
var boolCoreTag = defineScalarTag("tag:yaml.org,2002:bool", {
	implicit: true,
	implicitFirstChars: [
		"t",
		"T",
		"f",
		"F"
	],
	resolve: (source) => {
		if (TRUE_VALUES$2.indexOf(source) !== -1) return true;
		if (FALSE_VALUES$2.indexOf(source) !== -1) return false;
		return NOT_RESOLVED;
	},
	identify: (object) => Object.prototype.toString.call(object) === "[object Boolean]",
	represent: (object) => object ? "true" : "false"
});
var TRUE_VALUES$1 = ["true"];
var FALSE_VALUES$1 = ["false"];
/** @category Tags */
var boolJsonTag = defineScalarTag("tag:yaml.org,2002:bool", {
	implicit: true,
	implicitFirstChars: ["t", "f"],
	resolve: (source) => {
		if (TRUE_VALUES$1.indexOf(source) !== -1) return true;
		if (FALSE_VALUES$1.indexOf(source) !== -1) return false;
		return NOT_RESOLVED;
	},
	identify: (object) => Object.prototype.toString.call(object) === "[object Boolean]",
	represent: (object) => object ? "true" : "false"
});
var TRUE_VALUES = [
	"true",
	"True",
	"TRUE",
	"y",
	"Y",
	"yes",
	"Yes",
	"YES",
	"on",
	"On",
	"ON"
];
var FALSE_VALUES = [
	"false",
	"False",
	"FALSE",
	"n",
	"N",
	"no",
	"No",
	"NO",
	"off",
	"Off",
	"OFF"
];
/** @category Tags */
var boolYaml11Tag = defineScalarTag("tag:yaml.org,2002:bool", {
	implicit: true,
	implicitFirstChars: [
		"y",
		"Y",
		"n",
		"N",
		"t",
		"T",
		"f",
		"F",
		"o",
		"O"
	],
	resolve: (source) => {
		if (TRUE_VALUES.indexOf(source) !== -1) return true;
		if (FALSE_VALUES.indexOf(source) !== -1) return false;
		return NOT_RESOLVED;
	},
	identify: (object) => Object.prototype.toString.call(object) === "[object Boolean]",
	represent: (object) => object ? "true" : "false"
});
var YAML_INTEGER_IMPLICIT_PATTERN$1 = /* @__PURE__ */ new RegExp("^(?:0o[0-7]+|0x[0-9a-fA-F]+|[-+]?[0-9]+)$");
var YAML_INTEGER_EXPLICIT_PATTERN$1 = /* @__PURE__ */ new RegExp("^(?:[-+]?0b[0-1]+|[-+]?0o[0-7]+|[-+]?0x[0-9a-fA-F]+|[-+]?[0-9]+)$");
function parseYamlInteger$2(source) {
	let value = source;
	let sign = 1;
	if (value[0] === "-" || value[0] === "+") {
		if (value[0] === "-") sign = -1;
		value = value.slice(1);
	}
	if (value.startsWith("0b")) return sign * parseInt(value.slice(2), 2);
	if (value.startsWith("0o")) return sign * parseInt(value.slice(2), 8);
	if (value.startsWith("0x")) return sign * parseInt(value.slice(2), 16);
	return sign * parseInt(value, 10);
}
function resolveYamlInteger$2(source, isExplicit) {
	if (isExplicit) {
		if (!YAML_INTEGER_EXPLICIT_PATTERN$1.test(source)) return NOT_RESOLVED;
	} else if (!YAML_INTEGER_IMPLICIT_PATTERN$1.test(source)) return NOT_RESOLVED;
	const result = parseYamlInteger$2(source);
	return Number.isFinite(result) ? result : NOT_RESOLVED;
}
/** @category Tags */
var intCoreTag = defineScalarTag("tag:yaml.org,2002:int", {
	implicit: true,
	implicitFirstChars: [
		"-",
		"+",
		..."0123456789"
	],
	resolve: resolveYamlInteger$2,
	identify: (object) => Number.isInteger(object) && !Object.is(object, -0) && object.toString(10).indexOf("e") < 0,
	represent: (object) => object.toString(10)
});
var YAML_INTEGER_IMPLICIT_PATTERN = /* @__PURE__ */ new RegExp("^-?(?:0|[1-9][0-9]*)$");
var YAML_INTEGER_EXPLICIT_PATTERN = /* @__PURE__ */ new RegExp("^(?:[-+]?0b[0-1]+|[-+]?0o[0-7]+|[-+]?0x[0-9a-fA-F]+|[-+]?[0-9]+)$");
function parseYamlInteger$1(source) {
	let value = source;
	let sign = 1;
	if (value[0] === "-" || value[0] === "+") {
		if (value[0] === "-") sign = -1;
		value = value.slice(1);
	}
	if (value.startsWith("0b")) return sign * parseInt(value.slice(2), 2);
	if (value.startsWith("0o")) return sign * parseInt(value.slice(2), 8);
	if (value.startsWith("0x")) return sign * parseInt(value.slice(2), 16);
	return sign * parseInt(value, 10);
}
function resolveYamlInteger$1(source, isExplicit) {
	if (isExplicit) {
		if (!YAML_INTEGER_EXPLICIT_PATTERN.test(source)) return NOT_RESOLVED;
	} else if (!YAML_INTEGER_IMPLICIT_PATTERN.test(source)) return NOT_RESOLVED;
	const result = parseYamlInteger$1(source);
	return Number.isFinite(result) ? result : NOT_RESOLVED;
}
/** @category Tags */
var intJsonTag = defineScalarTag("tag:yaml.org,2002:int", {
	implicit: true,
	implicitFirstChars: ["-", ..."0123456789"],
	resolve: resolveYamlInteger$1,
	identify: (object) => Number.isInteger(object) && !Object.is(object, -0) && object.toString(10).indexOf("e") < 0,
	represent: (object) => object.toString(10)
});
var YAML_INTEGER_PATTERN = /* @__PURE__ */ new RegExp("^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+|[-+]?(?:0|[1-9][0-9_]*))$");
function parseYamlInteger(source) {
	let value = source.replace(/_/g, "");
	let sign = 1;
	if (value[0] === "-" || value[0] === "+") {
		if (value[0] === "-") sign = -1;
		value = value.slice(1);
	}
	if (value.startsWith("0b")) return sign * parseInt(value.slice(2), 2);
	if (value.startsWith("0x")) return sign * parseInt(value.slice(2), 16);
	if (value.includes(":")) {
		let result = 0;
		for (const part of value.split(":")) result = result * 60 + Number(part);
		return sign * result;
	}
	if (value !== "0" && value[0] === "0") return sign * parseInt(value, 8);
	return sign * parseInt(value, 10);
}
function resolveYamlInteger(source) {
	if (!YAML_INTEGER_PATTERN.test(source)) return NOT_RESOLVED;
	const result = parseYamlInteger(source);
	return Number.isFinite(result) ? result : NOT_RESOLVED;
}
/** @category Tags */
var intYaml11Tag = defineScalarTag("tag:yaml.org,2002:int", {
	implicit: true,
	implicitFirstChars: [
		"-",
		"+",
		..."0123456789"
	],
	resolve: resolveYamlInteger,
	identify: (object) => Number.isInteger(object) && !Object.is(object, -0) && object.toString(10).indexOf("e") < 0,
	represent: (object) => object.toString(10)
});
var YAML_FLOAT_PATTERN$1 = /* @__PURE__ */ new RegExp("^(?:[-+]?[0-9]+(?:\\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|[-+]?\\.[0-9]+(?:[eE][-+]?[0-9]+)?|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN))$");
var YAML_FLOAT_SPECIAL_PATTERN$1 = /* @__PURE__ */ new RegExp("^(?:[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN))$");
function resolveYamlFloat$2(source) {
	if (!YAML_FLOAT_PATTERN$1.test(source)) return NOT_RESOLVED;
	let value = source.toLowerCase();
	const sign = value[0] === "-" ? -1 : 1;
	if ("+-".includes(value[0])) value = value.slice(1);
	if (value === ".inf") return sign === 1 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
	if (value === ".nan") return NaN;
	const result = sign * parseFloat(value);
	if (Number.isFinite(result) || YAML_FLOAT_SPECIAL_PATTERN$1.test(source)) return result;
	return NOT_RESOLVED;
}
function representYamlFloat$2(object) {
	if (isNaN(object)) return ".nan";
	if (object === Number.POSITIVE_INFINITY) return ".inf";
	if (object === Number.NEGATIVE_INFINITY) return "-.inf";
	if (Object.is(object, -0)) return "-0.0";
	const result = object.toString(10);
	return /^[-+]?[0-9]+e/.test(result) ? result.replace("e", ".e") : result;
}
/** @category Tags */
var floatCoreTag = defineScalarTag("tag:yaml.org,2002:float", {
	implicit: true,
	implicitFirstChars: [
		"-",
		"+",
		".",
		..."0123456789"
	],
	resolve: resolveYamlFloat$2,
	identify: (object) => typeof object === "number" && (!Number.isInteger(object) || Object.is(object, -0) || object.toString(10).indexOf("e") >= 0),
	represent: representYamlFloat$2
});
var YAML_FLOAT_IMPLICIT_PATTERN = /* @__PURE__ */ new RegExp("^-?(?:0|[1-9][0-9]*)(?:\\.[0-9]*)?(?:[eE][-+]?[0-9]+)?$");
var YAML_FLOAT_EXPLICIT_PATTERN = /* @__PURE__ */ new RegExp("^(?:[-+]?[0-9]+(?:\\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|[-+]?\\.[0-9]+(?:[eE][-+]?[0-9]+)?|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN))$");
function resolveYamlFloat$1(source, isExplicit) {
	if (isExplicit) {
		if (!YAML_FLOAT_EXPLICIT_PATTERN.test(source)) return NOT_RESOLVED;
		let value = source.toLowerCase();
		const sign = value[0] === "-" ? -1 : 1;
		if ("+-".includes(value[0])) value = value.slice(1);
		if (value === ".inf") return sign === 1 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
		if (value === ".nan") return NaN;
		const result = sign * parseFloat(value);
		return Number.isFinite(result) ? result : NOT_RESOLVED;
	}
	if (!YAML_FLOAT_IMPLICIT_PATTERN.test(source)) return NOT_RESOLVED;
	const result = Number(source);
	if (Number.isFinite(result)) return result;
	return NOT_RESOLVED;
}
function representYamlFloat$1(object) {
	if (isNaN(object)) return ".nan";
	if (object === Number.POSITIVE_INFINITY) return ".inf";
	if (object === Number.NEGATIVE_INFINITY) return "-.inf";
	if (Object.is(object, -0)) return "-0.0";
	const result = object.toString(10);
	return /^[-+]?[0-9]+e/.test(result) ? result.replace("e", ".e") : result;
}
/** @category Tags */
var floatJsonTag = defineScalarTag("tag:yaml.org,2002:float", {
	implicit: true,
	implicitFirstChars: ["-", ..."0123456789"],
	resolve: resolveYamlFloat$1,
	identify: (object) => typeof object === "number" && (!Number.isInteger(object) || Object.is(object, -0) || object.toString(10).indexOf("e") >= 0),
	represent: representYamlFloat$1
});
var YAML_FLOAT_PATTERN = /* @__PURE__ */ new RegExp("^(?:[-+]?(?:(?:[0-9][0-9_]*)?\\.[0-9_]*)(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\\.[0-9_]*|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN))$");
var YAML_FLOAT_SPECIAL_PATTERN = /* @__PURE__ */ new RegExp("^(?:[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN))$");
function resolveYamlFloat(source) {
	if (!YAML_FLOAT_PATTERN.test(source)) return NOT_RESOLVED;
	let value = source.toLowerCase().replace(/_/g, "");
	const sign = value[0] === "-" ? -1 : 1;
	if ("+-".includes(value[0])) value = value.slice(1);
	if (value === ".inf") return sign === 1 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
	if (value === ".nan") return NaN;
	let result = 0;
	if (value.includes(":")) {
		for (const part of value.split(":")) result = result * 60 + Number(part);
		result *= sign;
	} else result = sign * parseFloat(value);
	if (Number.isFinite(result) || YAML_FLOAT_SPECIAL_PATTERN.test(source)) return result;
	return NOT_RESOLVED;
}
function representYamlFloat(object) {
	if (isNaN(object)) return ".nan";
	if (object === Number.POSITIVE_INFINITY) return ".inf";
	if (object === Number.NEGATIVE_INFINITY) return "-.inf";
	if (Object.is(object, -0)) return "-0.0";
	const result = object.toString(10);
	return /^[-+]?[0-9]+e/.test(result) ? result.replace("e", ".e") : result;
}
/** @category Tags */
var floatYaml11Tag = defineScalarTag("tag:yaml.org,2002:float", {
	implicit: true,
	implicitFirstChars: [
		"-",
		"+",
		".",
		..."0123456789"
	],
	resolve: resolveYamlFloat,
	identify: (object) => typeof object === "number" && (!Number.isInteger(object) || Object.is(object, -0) || object.toString(10).indexOf("e") >= 0),
	represent: representYamlFloat
});
/**
* Enables merge keys in {@link CORE_SCHEMA} when added with
* {@link Schema.withTags}.
*
* @category Tags
*/
var mergeTag = defineScalarTag("tag:yaml.org,2002:merge", {
	implicit: true,
	implicitFirstChars: ["<"],
	resolve: (source, isExplicit) => {
		if (source === "<<" || isExplicit && source === "") return "<<";
		return NOT_RESOLVED;
	},
	identify: () => false
});
var BASE64_PATTERN = /^[A-Za-z0-9+/]*={0,2}$/;
function resolveYamlBinary(source) {
	const input = source.replace(/\s/g, "");
	if (input.length % 4 !== 0 || !BASE64_PATTERN.test(input)) return NOT_RESOLVED;
	const binary = atob(input);
	const result = new Uint8Array(binary.length);
	for (let index = 0; index < binary.length; index++) result[index] = binary.charCodeAt(index);
	return result;
}
function representYamlBinary(object) {
	let binary = "";
	for (let index = 0; index < object.length; index++) binary += String.fromCharCode(object[index]);
	return btoa(binary);
}
/**
* The `!!binary` tag, represented as a `Uint8Array`.
*
* @category Tags
*/
var binaryTag = defineScalarTag("tag:yaml.org,2002:binary", {
	resolve: resolveYamlBinary,
	identify: (object) => Object.prototype.toString.call(object) === "[object Uint8Array]",
	represent: representYamlBinary
});
var YAML_DATE_REGEXP = /* @__PURE__ */ new RegExp("^([0-9][0-9][0-9][0-9])-([0-9][0-9])-([0-9][0-9])$");
var YAML_TIMESTAMP_REGEXP = /* @__PURE__ */ new RegExp("^([0-9][0-9][0-9][0-9])-([0-9][0-9]?)-([0-9][0-9]?)(?:[Tt]|[ \\t]+)([0-9][0-9]?):([0-9][0-9]):([0-9][0-9])(?:\\.([0-9]*))?(?:[ \\t]*(Z|([-+])([0-9][0-9]?)(?::([0-9][0-9]))?))?$");
function makeUtcDate(year, month, day, hour = 0, minute = 0, second = 0, fraction = 0) {
	const date = new Date(Date.UTC(year, month, day, hour, minute, second, fraction));
	date.setUTCFullYear(year, month, day);
	return date;
}
function resolveYamlTimestamp(source) {
	let match = YAML_DATE_REGEXP.exec(source);
	if (match === null) match = YAML_TIMESTAMP_REGEXP.exec(source);
	if (match === null) return NOT_RESOLVED;
	const year = +match[1];
	const month = +match[2] - 1;
	const day = +match[3];
	if (!match[4]) {
		const date = makeUtcDate(year, month, day);
		if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month || date.getUTCDate() !== day) return NOT_RESOLVED;
		return date;
	}
	const hour = +match[4];
	const minute = +match[5];
	const second = +match[6];
	let fraction = 0;
	if (hour > 23 || minute > 59 || second > 59) return NOT_RESOLVED;
	if (match[7]) {
		let value = match[7].slice(0, 3);
		while (value.length < 3) value += "0";
		fraction = +value;
	}
	const date = makeUtcDate(year, month, day, hour, minute, second, fraction);
	if (date.getUTCFullYear() !== year || date.getUTCMonth() !== month || date.getUTCDate() !== day) return NOT_RESOLVED;
	if (match[9]) {
		const offsetHour = +match[10];
		const offsetMinute = +(match[11] || 0);
		if (offsetHour > 23 || offsetMinute > 59) return NOT_RESOLVED;
		const offset = (offsetHour * 60 + offsetMinute) * 6e4;
		date.setTime(date.getTime() - (match[9] === "-" ? -offset : offset));
	}
	return date;
}
/**
* The YAML 1.1 `!!timestamp` tag, represented as a JavaScript `Date`.
*
* @category Tags
*/
var timestampTag = defineScalarTag("tag:yaml.org,2002:timestamp", {
	implicit: true,
	implicitFirstChars: [..."0123456789"],
	resolve: resolveYamlTimestamp,
	identify: (object) => object instanceof Date,
	represent: (object) => object.toISOString()
});
/** @category Tags */
var seqTag = defineSequenceTag("tag:yaml.org,2002:seq", {
	create: () => [],
	addItem: (container, item) => {
		container.push(item);
	},
	identify: Array.isArray
});
function isPlainObject(data) {
	if (data === null || typeof data !== "object" || Array.isArray(data)) return false;
	const prototype = Object.getPrototypeOf(data);
	return prototype === null || prototype === Object.prototype;
}
/**
* Provided only for YAML 1.1 compatibility and supported by the loader only.
* JavaScript has no dedicated class to represent this type, so it cannot be
* identified and dumped.
*
* ```yaml
* !!omap
*   - one: 1
*   - two: 2
* ```
*
* is loaded as
*
* ```javascript
* [
*   { one: 1 },
*   { two: 2 }
* ]
* ```
*
* @category Tags
*/
var omapTag = defineSequenceTag("tag:yaml.org,2002:omap", {
	create: () => ({
		list: [],
		seen: /* @__PURE__ */ new Set()
	}),
	addItem: (carrier, item) => {
		let key;
		if (item instanceof Map) {
			if (item.size !== 1) return "cannot resolve an ordered map item";
			key = item.keys().next().value;
		} else if (isPlainObject(item)) {
			const itemKeys = Object.keys(item);
			if (itemKeys.length !== 1) return "cannot resolve an ordered map item";
			key = itemKeys[0];
		} else return "cannot resolve an ordered map item";
		if (carrier.seen.has(key)) return "duplicate key in ordered map";
		carrier.seen.add(key);
		carrier.list.push(item);
		return "";
	},
	finalize: (carrier) => carrier.list,
	identify: () => false
});
/**
* Provided only for YAML 1.1 compatibility and supported by the loader only.
* JavaScript has no dedicated class to represent this type, so it cannot be
* identified and dumped.
*
* ```yaml
* !!pairs
*   - one: 1
*   - two: 2
* ```
*
* is loaded as
*
* ```javascript
* [
*   ['one', 1],
*   ['two', 2]
* ]
* ```
*
* @category Tags
*/
var pairsTag = defineSequenceTag("tag:yaml.org,2002:pairs", {
	create: () => [],
	addItem: (container, item) => {
		if (item instanceof Map) {
			if (item.size !== 1) return "cannot resolve a pairs item";
			container.push(item.entries().next().value);
			return "";
		}
		if (Object.prototype.toString.call(item) !== "[object Object]") return "cannot resolve a pairs item";
		const object = item;
		const keys = Object.keys(object);
		if (keys.length !== 1) return "cannot resolve a pairs item";
		container.push([keys[0], object[keys[0]]]);
		return "";
	},
	identify: () => false
});
/**
* This is the default mapping implementation. It uses `{}` objects and has only
* partial functionality due to language limitations. This choice was made
* because users expect to get JavaScript objects, and it was left unchanged to
* avoid too many breaking changes in the v5 release.
*
* Side effects:
*
* - `Object.hasOwn()` checks or `for...of` loops are required for safe use (to
*   avoid falling through to prototypes).
* - Only scalar string keys are supported properly.
* - Other scalar keys, such as `null` and numbers, are converted to strings.
*   This is historical behaviour, and it can cause side effects such as
*   problems with `!!merge`.
*
* Note that non-string scalar keys may be deprecated in future versions.
*
* Ideally, use {@link realMapTag} instead.
*
* @category Tags
*/
var mapTag = defineMappingTag("tag:yaml.org,2002:map", {
	create: () => ({}),
	identify: isPlainObject,
	represent: (o) => {
		const map = /* @__PURE__ */ new Map();
		for (const key of Object.keys(o)) map.set(key, o[key]);
		return map;
	},
	addPair: (container, key, value) => {
		if (key !== null && typeof key === "object") return "object-based map does not support complex keys";
		const normalizedKey = String(key);
		if (normalizedKey === "__proto__") Object.defineProperty(container, normalizedKey, {
			value,
			enumerable: true,
			configurable: true,
			writable: true
		});
		else container[normalizedKey] = value;
		return "";
	},
	has: (container, key) => {
		if (key !== null && typeof key === "object") return false;
		return Object.prototype.hasOwnProperty.call(container, String(key));
	},
	keys: (container) => Object.keys(container),
	get: (container, key) => {
		const normalizedKey = String(key);
		if (!Object.prototype.hasOwnProperty.call(container, normalizedKey)) return null;
		return container[normalizedKey];
	}
});
/**
* The YAML 1.1 `!!set` tag, represented as a JavaScript `Set`.
*
* @category Tags
*/
var setTag = defineMappingTag("tag:yaml.org,2002:set", {
	create: () => /* @__PURE__ */ new Set(),
	identify: (data) => data instanceof Set,
	represent: (data) => {
		const map = /* @__PURE__ */ new Map();
		for (const key of data) map.set(key, null);
		return map;
	},
	addPair: (container, key, value) => {
		if (value !== null) return "cannot resolve a set item";
		container.add(key);
		return "";
	},
	has: (container, key) => container.has(key),
	keys: (container) => container.keys(),
	get: () => null
});
function createTagDefinitionMap() {
	return {
		scalar: Object.create(null),
		sequence: Object.create(null),
		mapping: Object.create(null)
	};
}
function createTagDefinitionListMap() {
	return {
		scalar: [],
		sequence: [],
		mapping: []
	};
}
function compileTags(tags) {
	const result = [];
	for (const tag of tags) {
		let index = result.length;
		for (let previousIndex = 0; previousIndex < result.length; previousIndex++) {
			const previous = result[previousIndex];
			if (previous.nodeKind === tag.nodeKind && previous.tagName === tag.tagName && previous.matchByTagPrefix === tag.matchByTagPrefix) {
				index = previousIndex;
				break;
			}
		}
		result[index] = tag;
	}
	return result;
}
/**
* Controls tag resolution when loading and type selection when dumping.
*
* @category Schemas
*/
var Schema = class Schema {
	tags;
	/** @internal */
	implicitScalarTags;
	/**
	* Dispatch implicit scalar resolvers by `source.charAt(0)`. Each bucket holds
	* the resolvers that may match that key, in schema order; a key absent from
	* the map uses
	* {@link Schema.implicitScalarAnyFirstChar}
	* (resolvers that declared no first-char constraint, so they apply to any
	* first character).
	*/
	implicitScalarByFirstChar;
	implicitScalarAnyFirstChar;
	/**
	* The default scalar tag (`!!str`), resolved once so the composer's fallback
	* for unresolved plain scalars avoids a keyed lookup per scalar.
	*
	* @internal
	*/
	defaultScalarTag;
	/**
	* The default container tags (`!!seq` / `!!map`), used by the dumper: when a
	* value is identified by its default tag, the tag is implicit and not
	* printed. Undefined if the schema does not define them (then such values
	* can't be dumped).
	*
	* @internal
	*/
	defaultSequenceTag;
	/** @internal */
	defaultMappingTag;
	exact;
	prefix;
	constructor(tags) {
		const compiledTags = compileTags(tags);
		const implicitScalarTags = [];
		const exact = createTagDefinitionMap();
		const prefix = createTagDefinitionListMap();
		for (const tag of compiledTags) {
			if (tag.nodeKind === "scalar" && tag.implicit) {
				if (tag.matchByTagPrefix) throw new Error("Implicit scalar tags cannot match by tag prefix");
				implicitScalarTags.push(tag);
			}
			switch (tag.nodeKind) {
				case "scalar":
					if (tag.matchByTagPrefix) prefix.scalar.push(tag);
					else exact.scalar[tag.tagName] = tag;
					break;
				case "sequence":
					if (tag.matchByTagPrefix) prefix.sequence.push(tag);
					else exact.sequence[tag.tagName] = tag;
					break;
				case "mapping": if (tag.matchByTagPrefix) prefix.mapping.push(tag);
				else exact.mapping[tag.tagName] = tag;
			}
		}
		const implicitScalarAnyFirstChar = implicitScalarTags.filter((tag) => tag.implicitFirstChars === null);
		const keys = /* @__PURE__ */ new Set();
		for (const tag of implicitScalarTags) if (tag.implicitFirstChars !== null) for (const key of tag.implicitFirstChars) keys.add(key);
		const implicitScalarByFirstChar = /* @__PURE__ */ new Map();
		for (const key of keys) implicitScalarByFirstChar.set(key, implicitScalarTags.filter((tag) => tag.implicitFirstChars === null || tag.implicitFirstChars.indexOf(key) !== -1));
		const defaultScalarTag = exact.scalar["tag:yaml.org,2002:str"];
		if (!defaultScalarTag) throw new Error("schema does not define the default scalar tag (tag:yaml.org,2002:str)");
		this.tags = compiledTags;
		this.implicitScalarTags = implicitScalarTags;
		this.implicitScalarByFirstChar = implicitScalarByFirstChar;
		this.implicitScalarAnyFirstChar = implicitScalarAnyFirstChar;
		this.defaultScalarTag = defaultScalarTag;
		this.defaultSequenceTag = exact.sequence["tag:yaml.org,2002:seq"];
		this.defaultMappingTag = exact.mapping["tag:yaml.org,2002:map"];
		this.exact = exact;
		this.prefix = prefix;
	}
	/** @internal */
	lookupScalarTag(tagName) {
		const exactTag = this.exact.scalar[tagName];
		if (exactTag) return exactTag;
		for (const tag of this.prefix.scalar) if (tagName.startsWith(tag.tagName)) return tag;
	}
	/** @internal */
	lookupSequenceTag(tagName) {
		const exactTag = this.exact.sequence[tagName];
		if (exactTag) return exactTag;
		for (const tag of this.prefix.sequence) if (tagName.startsWith(tag.tagName)) return tag;
	}
	/** @internal */
	lookupMappingTag(tagName) {
		const exactTag = this.exact.mapping[tagName];
		if (exactTag) return exactTag;
		for (const tag of this.prefix.mapping) if (tagName.startsWith(tag.tagName)) return tag;
	}
	/** @internal */
	resolveImplicitScalarTag(source) {
		const candidates = this.implicitScalarByFirstChar.get(source.charAt(0)) ?? this.implicitScalarAnyFirstChar;
		for (const tag of candidates) {
			const value = tag.resolve(source, false, tag.tagName);
			if (value !== NOT_RESOLVED) return {
				value,
				tag
			};
		}
		const tag = this.defaultScalarTag;
		return {
			value: tag.resolve(source, false, tag.tagName),
			tag
		};
	}
	/**
	* Creates a new schema with the specified tags added. If a tag already
	* exists, it is replaced by the specified tag.
	*
	* @example
	*
	* ```javascript
	* import { CORE_SCHEMA, mergeTag, realMapTag } from 'js-yaml'
	*
	* const schema = CORE_SCHEMA.withTags(mergeTag, realMapTag)
	* ```
	*/
	withTags(...tags) {
		let flatTags = [];
		for (const tag of tags) flatTags = flatTags.concat(tag);
		return new Schema([...this.tags, ...flatTags]);
	}
};
/**
* The YAML 1.2 Failsafe Schema: strings, sequences, and mappings.
*
* @category Schemas
*/
var FAILSAFE_SCHEMA = new Schema([
	strTag,
	seqTag,
	mapTag
]);
new Schema([
	...FAILSAFE_SCHEMA.tags,
	nullJsonTag,
	boolJsonTag,
	intJsonTag,
	floatJsonTag
]);
new Schema([
	...FAILSAFE_SCHEMA.tags,
	nullCoreTag,
	boolCoreTag,
	intCoreTag,
	floatCoreTag
]);
new Schema([
	...FAILSAFE_SCHEMA.tags,
	nullYaml11Tag,
	boolYaml11Tag,
	intYaml11Tag,
	floatYaml11Tag,
	timestampTag,
	mergeTag,
	binaryTag,
	omapTag,
	pairsTag,
	setTag
]).withTags({
	...intYaml11Tag,
	resolve: (source, isExplicit, tagName) => {
		const result = intYaml11Tag.resolve(source, isExplicit, tagName);
		return result === NOT_RESOLVED ? intCoreTag.resolve(source, isExplicit, tagName) : result;
	}
}, {
	...floatYaml11Tag,
	resolve: (source, isExplicit, tagName) => {
		const result = floatYaml11Tag.resolve(source, isExplicit, tagName);
		return result === NOT_RESOLVED ? floatCoreTag.resolve(source, isExplicit, tagName) : result;
	}
});
var DEFAULT_SNIPPET_OPTIONS = {
	maxLength: 79,
	indent: 1,
	linesBefore: 3,
	linesAfter: 2
};
function getLine(buffer, lineStart, lineEnd, position, maxLineLength) {
	let head = "";
	let tail = "";
	const maxHalfLength = Math.floor(maxLineLength / 2) - 1;
	if (position - lineStart > maxHalfLength) {
		head = " ... ";
		lineStart = position - maxHalfLength + head.length;
	}
	if (lineEnd - position > maxHalfLength) {
		tail = " ...";
		lineEnd = position + maxHalfLength - tail.length;
	}
	return {
		str: head + buffer.slice(lineStart, lineEnd).replace(/\t/g, "→") + tail,
		pos: position - lineStart + head.length
	};
}
function padStart(string, max) {
	return " ".repeat(Math.max(max - string.length, 0)) + string;
}
function makeSnippet(mark, options) {
	if (!mark.buffer) return null;
	const opts = {
		...DEFAULT_SNIPPET_OPTIONS,
		...options
	};
	const re = /\r?\n|\r|\0/g;
	const lineStarts = [0];
	const lineEnds = [];
	let match;
	let foundLineNo = -1;
	while (match = re.exec(mark.buffer)) {
		lineEnds.push(match.index);
		lineStarts.push(match.index + match[0].length);
		if (mark.position <= match.index && foundLineNo < 0) foundLineNo = lineStarts.length - 2;
	}
	if (foundLineNo < 0) foundLineNo = lineStarts.length - 1;
	let result = "";
	const lineNoLength = Math.min(mark.line + opts.linesAfter, lineEnds.length).toString().length;
	const maxLineLength = opts.maxLength - (opts.indent + lineNoLength + 3);
	for (let i = 1; i <= opts.linesBefore; i++) {
		if (foundLineNo - i < 0) break;
		const line = getLine(mark.buffer, lineStarts[foundLineNo - i], lineEnds[foundLineNo - i], mark.position - (lineStarts[foundLineNo] - lineStarts[foundLineNo - i]), maxLineLength);
		result = `${" ".repeat(opts.indent)}${padStart((mark.line - i + 1).toString(), lineNoLength)} | ${line.str}\n${result}`;
	}
	const line = getLine(mark.buffer, lineStarts[foundLineNo], lineEnds[foundLineNo], mark.position, maxLineLength);
	result += `${" ".repeat(opts.indent)}${padStart((mark.line + 1).toString(), lineNoLength)} | ${line.str}\n`;
	result += `${"-".repeat(opts.indent + lineNoLength + 3 + line.pos)}^\n`;
	for (let i = 1; i <= opts.linesAfter; i++) {
		if (foundLineNo + i >= lineEnds.length) break;
		const line = getLine(mark.buffer, lineStarts[foundLineNo + i], lineEnds[foundLineNo + i], mark.position - (lineStarts[foundLineNo] - lineStarts[foundLineNo + i]), maxLineLength);
		result += `${" ".repeat(opts.indent)}${padStart((mark.line + i + 1).toString(), lineNoLength)} | ${line.str}\n`;
	}
	return result.replace(/\n$/, "");
}
function formatError(exception, compact) {
	let where = "";
	if (!exception.mark) return exception.reason;
	if (exception.mark.name) where += `in "${exception.mark.name}" `;
	where += `(${exception.mark.line + 1}:${exception.mark.column + 1})`;
	if (!compact && exception.mark.snippet) where += `\n\n${exception.mark.snippet}`;
	return `${exception.reason} ${where}`;
}
/**
* A YAML error. Unlike an ordinary `Error`, it adds a source snippet showing
* the location of the problem to the error message, when available.
*
* @category Main
*/
var YAMLException = class YAMLException extends Error {
	reason;
	mark;
	/**
	* Optional `mark` contains source snippet data. Usually, use
	* {@link YAMLException.throwAt} instead of passing it directly.
	*/
	constructor(reason, mark) {
		super();
		this.name = "YAMLException";
		this.reason = reason;
		this.mark = mark;
		this.message = formatError(this, false);
		if (Error.captureStackTrace) Error.captureStackTrace(this, this.constructor);
	}
	/**
	* Returns the formatted error, omitting the source snippet in compact mode.
	*/
	toString(compact) {
		return `${this.name}: ${formatError(this, compact)}`;
	}
	/**
	* Builds a YAMLException with a source snippet and throws it. `source` is
	* the raw input text; `position` is an offset into it.
	*/
	static throwAt(source, position, message, filename = "") {
		let line = 0;
		let lineStart = 0;
		for (let index = 0; index < position; index++) {
			const ch = source.charCodeAt(index);
			if (ch === 10) {
				line++;
				lineStart = index + 1;
			} else if (ch === 13) {
				line++;
				if (source.charCodeAt(index + 1) === 10) index++;
				lineStart = index + 1;
			}
		}
		const mark = {
			name: filename,
			buffer: source,
			position,
			line,
			column: position - lineStart
		};
		mark.snippet = makeSnippet(mark);
		throw new YAMLException(message, mark);
	}
};
/** @category Events */
var EVENT_ID = {
	DOCUMENT: 1,
	SEQUENCE: 2,
	MAPPING: 3,
	SCALAR: 4,
	ALIAS: 5,
	POP: 6
};
/** @category Nodes */
var SCALAR_STYLE = {
	PLAIN: 1,
	SINGLE_QUOTED: 2,
	DOUBLE_QUOTED: 3,
	LITERAL_BLOCK: 4,
	FOLDED_BLOCK: 5
};
/** @category Nodes */
var COLLECTION_STYLE = {
	BLOCK: 1,
	FLOW: 2
};
/** @category Nodes */
var CHOMPING_MODE = {
	CLIP: 1,
	STRIP: 2,
	KEEP: 3
};
var NO_RANGE$3 = -1;
function simpleEscapeSequence(c) {
	switch (c) {
		case 48: return "\0";
		case 97: return "\x07";
		case 98: return "\b";
		case 116: return "	";
		case 9: return "	";
		case 110: return "\n";
		case 118: return "\v";
		case 102: return "\f";
		case 114: return "\r";
		case 101: return "\x1B";
		case 32: return " ";
		case 34: return "\"";
		case 47: return "/";
		case 92: return "\\";
		case 78: return "";
		case 95: return "\xA0";
		case 76: return "\u2028";
		case 80: return "\u2029";
		default: return "";
	}
}
var simpleEscapeCheck = new Array(256);
var simpleEscapeMap = new Array(256);
for (let i = 0; i < 256; i++) {
	simpleEscapeCheck[i] = simpleEscapeSequence(i) ? 1 : 0;
	simpleEscapeMap[i] = simpleEscapeSequence(i);
}
function charFromCodepoint(c) {
	if (c <= 65535) return String.fromCharCode(c);
	return String.fromCharCode((c - 65536 >> 10) + 55296, (c - 65536 & 1023) + 56320);
}
function fromHexCode$1(c) {
	if (c >= 48 && c <= 57) return c - 48;
	return (c | 32) - 97 + 10;
}
function escapedHexLen$1(c) {
	if (c === 120) return 2;
	if (c === 117) return 4;
	return 8;
}
function skipFoldedBreaks(input, position, end) {
	let breaks = 0;
	while (position < end) {
		const ch = input.charCodeAt(position);
		if (ch === 10) {
			breaks++;
			position++;
		} else if (ch === 13) {
			breaks++;
			position++;
			if (input.charCodeAt(position) === 10) position++;
		} else if (ch === 32 || ch === 9) position++;
		else break;
	}
	return {
		position,
		breaks
	};
}
function foldedBreaks(count) {
	if (count === 1) return " ";
	return "\n".repeat(count - 1);
}
function getPlainValue(input, start, end) {
	let result = "";
	let position = start;
	let captureStart = start;
	let captureEnd = start;
	while (position < end) {
		const ch = input.charCodeAt(position);
		if (ch === 10 || ch === 13) {
			result += input.slice(captureStart, captureEnd);
			const fold = skipFoldedBreaks(input, position, end);
			result += foldedBreaks(fold.breaks);
			position = captureStart = captureEnd = fold.position;
		} else {
			position++;
			if (ch !== 32 && ch !== 9) captureEnd = position;
		}
	}
	return result + input.slice(captureStart, captureEnd);
}
function getSingleQuotedValue(input, start, end) {
	let result = "";
	let position = start;
	let captureStart = start;
	let captureEnd = start;
	while (position < end) {
		const ch = input.charCodeAt(position);
		if (ch === 39) {
			result += input.slice(captureStart, position) + "'";
			position += 2;
			captureStart = captureEnd = position;
		} else if (ch === 10 || ch === 13) {
			result += input.slice(captureStart, captureEnd);
			const fold = skipFoldedBreaks(input, position, end);
			result += foldedBreaks(fold.breaks);
			position = captureStart = captureEnd = fold.position;
		} else {
			position++;
			if (ch !== 32 && ch !== 9) captureEnd = position;
		}
	}
	return result + input.slice(captureStart, end);
}
function getDoubleQuotedValue(input, start, end) {
	let result = "";
	let position = start;
	let captureStart = start;
	let captureEnd = start;
	while (position < end) {
		const ch = input.charCodeAt(position);
		if (ch === 92) {
			result += input.slice(captureStart, position);
			position++;
			const escaped = input.charCodeAt(position);
			if (escaped === 10 || escaped === 13) position = skipFoldedBreaks(input, position, end).position;
			else if (escaped < 256 && simpleEscapeCheck[escaped]) {
				result += simpleEscapeMap[escaped];
				position++;
			} else {
				let hexLength = escapedHexLen$1(escaped);
				let hexResult = 0;
				for (; hexLength > 0; hexLength--) {
					position++;
					const digit = fromHexCode$1(input.charCodeAt(position));
					hexResult = (hexResult << 4) + digit;
				}
				result += charFromCodepoint(hexResult);
				position++;
			}
			captureStart = captureEnd = position;
		} else if (ch === 10 || ch === 13) {
			result += input.slice(captureStart, captureEnd);
			const fold = skipFoldedBreaks(input, position, end);
			result += foldedBreaks(fold.breaks);
			position = captureStart = captureEnd = fold.position;
		} else {
			position++;
			if (ch !== 32 && ch !== 9) captureEnd = position;
		}
	}
	return result + input.slice(captureStart, end);
}
function getBlockValue(input, start, end, indent, chomping, folded) {
	const textIndent = indent < 0 ? 0 : indent;
	const region = input.slice(start, end).replace(/\r\n?/g, "\n");
	const lines = region === "" ? [] : (region.endsWith("\n") ? region.slice(0, -1) : region).split("\n");
	let result = "";
	let didReadContent = false;
	let emptyLines = 0;
	let atMoreIndented = false;
	for (const line of lines) {
		let column = 0;
		while (column < textIndent && line.charCodeAt(column) === 32) column++;
		if (indent < 0 || column >= line.length) {
			emptyLines++;
			continue;
		}
		const content = line.slice(textIndent);
		const first = content.charCodeAt(0);
		if (folded) {
			if (first === 32 || first === 9) {
				atMoreIndented = true;
				result += "\n".repeat(didReadContent ? 1 + emptyLines : emptyLines);
			} else if (atMoreIndented) {
				atMoreIndented = false;
				result += "\n".repeat(emptyLines + 1);
			} else if (emptyLines === 0) {
				if (didReadContent) result += " ";
			} else result += "\n".repeat(emptyLines);
		} else result += "\n".repeat(didReadContent ? 1 + emptyLines : emptyLines);
		result += content;
		didReadContent = true;
		emptyLines = 0;
	}
	if (chomping === CHOMPING_MODE.KEEP) result += "\n".repeat(didReadContent ? 1 + emptyLines : emptyLines);
	else if (chomping !== CHOMPING_MODE.STRIP) {
		if (didReadContent) result += "\n";
	}
	return result;
}
/**
* Decodes the scalar referenced by event offsets in `input`.
*
* @category Events
*/
function getScalarValue(input, scalar) {
	if (scalar.valueStart === NO_RANGE$3) return "";
	const { valueStart, valueEnd } = scalar;
	if (scalar.fast) return input.slice(valueStart, valueEnd);
	switch (scalar.style) {
		case SCALAR_STYLE.SINGLE_QUOTED: return getSingleQuotedValue(input, valueStart, valueEnd);
		case SCALAR_STYLE.DOUBLE_QUOTED: return getDoubleQuotedValue(input, valueStart, valueEnd);
		case SCALAR_STYLE.LITERAL_BLOCK: return getBlockValue(input, valueStart, valueEnd, scalar.indent, scalar.chomping, false);
		case SCALAR_STYLE.FOLDED_BLOCK: return getBlockValue(input, valueStart, valueEnd, scalar.indent, scalar.chomping, true);
		default: return getPlainValue(input, valueStart, valueEnd);
	}
}
Object.assign(Object.create(null), {
	"!": "!",
	"!!": "tag:yaml.org,2002:"
});
var NO_RANGE$1 = -1;
var HAS_OWN = Object.prototype.hasOwnProperty;
var CONTEXT_FLOW_IN = 1;
var CONTEXT_FLOW_OUT = 2;
var CONTEXT_BLOCK_IN = 3;
var CONTEXT_BLOCK_OUT = 4;
var PATTERN_NON_PRINTABLE = /[\x00-\x08\x0B\x0C\x0E-\x1F\x7F-\x84\x86-\x9F\uFFFE\uFFFF]|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?:[^\uD800-\uDBFF]|^)[\uDC00-\uDFFF]/;
var PATTERN_FLOW_INDICATORS = /[,\[\]{}]/;
var PATTERN_TAG_HANDLE = /^(?:!|!!|![0-9A-Za-z-]+!)$/;
var NS_URI_CHAR = String.raw`(?:%[0-9A-Fa-f]{2}|[0-9A-Za-z\-#;/?:@&=+$,_.!~*'()\[\]])`;
var NS_TAG_CHAR = String.raw`(?:%[0-9A-Fa-f]{2}|[0-9A-Za-z\-#;/?:@&=+$.~*'()_])`;
var PATTERN_TAG_URI = new RegExp(`^(?:${NS_URI_CHAR})*$`);
var PATTERN_TAG_SUFFIX = new RegExp(`^(?:${NS_TAG_CHAR})+$`);
var PATTERN_TAG_PREFIX = new RegExp(`^(?:!(?:${NS_URI_CHAR})*|${NS_TAG_CHAR}(?:${NS_URI_CHAR})*)$`);
var DEFAULT_PARSER_OPTIONS = {
	filename: "",
	maxDepth: 100
};
function addDocumentEvent(state, explicitStart, explicitEnd) {
	state.events.push({
		type: EVENT_ID.DOCUMENT,
		explicitStart,
		explicitEnd,
		directives: state.directives
	});
}
function addSequenceEvent(state, start, anchorStart, anchorEnd, tagStart, tagEnd, style) {
	state.events.push({
		type: EVENT_ID.SEQUENCE,
		start,
		anchorStart,
		anchorEnd,
		tagStart,
		tagEnd,
		style
	});
}
function addMappingEvent(state, start, anchorStart, anchorEnd, tagStart, tagEnd, style) {
	state.events.push({
		type: EVENT_ID.MAPPING,
		start,
		anchorStart,
		anchorEnd,
		tagStart,
		tagEnd,
		style
	});
}
function insertFlowPairMappingEvent(state, snapshot) {
	state.events.splice(snapshot.eventsLength, 0, {
		type: EVENT_ID.MAPPING,
		start: snapshot.position,
		anchorStart: NO_RANGE$1,
		anchorEnd: NO_RANGE$1,
		tagStart: NO_RANGE$1,
		tagEnd: NO_RANGE$1,
		style: COLLECTION_STYLE.FLOW
	});
}
function addScalarEvent(state, valueStart, valueEnd, anchorStart, anchorEnd, tagStart, tagEnd, style, chomping = CHOMPING_MODE.CLIP, indent = -1, fast = false) {
	state.events.push({
		type: EVENT_ID.SCALAR,
		valueStart,
		valueEnd,
		anchorStart,
		anchorEnd,
		tagStart,
		tagEnd,
		style,
		chomping,
		indent,
		fast
	});
}
function addAliasEvent(state, anchorStart, anchorEnd) {
	state.events.push({
		type: EVENT_ID.ALIAS,
		anchorStart,
		anchorEnd
	});
}
function addPopEvent(state) {
	state.events.push({ type: EVENT_ID.POP });
}
function addEmptyScalarEvent(state) {
	addScalarEvent(state, NO_RANGE$1, NO_RANGE$1, NO_RANGE$1, NO_RANGE$1, NO_RANGE$1, NO_RANGE$1, SCALAR_STYLE.PLAIN);
}
function emptyProperties() {
	return {
		anchorStart: NO_RANGE$1,
		anchorEnd: NO_RANGE$1,
		tagStart: NO_RANGE$1,
		tagEnd: NO_RANGE$1
	};
}
function snapshotState(state) {
	return {
		position: state.position,
		line: state.line,
		lineStart: state.lineStart,
		lineIndent: state.lineIndent,
		firstTabInLine: state.firstTabInLine,
		eventsLength: state.events.length
	};
}
function restoreState(state, snapshot) {
	state.position = snapshot.position;
	state.line = snapshot.line;
	state.lineStart = snapshot.lineStart;
	state.lineIndent = snapshot.lineIndent;
	state.firstTabInLine = snapshot.firstTabInLine;
	state.events.length = snapshot.eventsLength;
}
function throwError(state, message) {
	YAMLException.throwAt(state.input.slice(0, state.length), state.position, message, state.filename);
}
function isEol(c) {
	return c === 10 || c === 13;
}
function isWhiteSpace(c) {
	return c === 9 || c === 32;
}
function isWsOrEol(c) {
	return isWhiteSpace(c) || isEol(c);
}
function isWsOrEolOrEnd(c) {
	return c === 0 || isWsOrEol(c);
}
function isFlowIndicator(c) {
	return c === 44 || c === 91 || c === 93 || c === 123 || c === 125;
}
function fromDecimalCode(c) {
	return c >= 48 && c <= 57 ? c - 48 : -1;
}
function fromHexCode(c) {
	if (c >= 48 && c <= 57) return c - 48;
	const lc = c | 32;
	if (lc >= 97 && lc <= 102) return lc - 97 + 10;
	return -1;
}
function escapedHexLen(c) {
	if (c === 120) return 2;
	if (c === 117) return 4;
	if (c === 85) return 8;
	return 0;
}
function isSimpleEscape(c) {
	return c === 48 || c === 97 || c === 98 || c === 116 || c === 9 || c === 110 || c === 118 || c === 102 || c === 114 || c === 101 || c === 32 || c === 34 || c === 47 || c === 92 || c === 78 || c === 95 || c === 76 || c === 80;
}
function consumeLineBreak(state) {
	if (state.input.charCodeAt(state.position) === 10) state.position++;
	else {
		state.position++;
		if (state.input.charCodeAt(state.position) === 10) state.position++;
	}
	state.line++;
	state.lineStart = state.position;
	state.lineIndent = 0;
	state.firstTabInLine = -1;
}
function skipSeparationSpace(state, allowComments) {
	let lineBreaks = 0;
	let ch = state.input.charCodeAt(state.position);
	let hasSeparation = state.position === state.lineStart || isWsOrEol(state.input.charCodeAt(state.position - 1));
	while (ch !== 0) {
		while (isWhiteSpace(ch)) {
			hasSeparation = true;
			if (ch === 9 && state.firstTabInLine === -1) state.firstTabInLine = state.position;
			ch = state.input.charCodeAt(++state.position);
		}
		if (allowComments && hasSeparation && ch === 35) do
			ch = state.input.charCodeAt(++state.position);
		while (!isEol(ch) && ch !== 0);
		if (!isEol(ch)) break;
		consumeLineBreak(state);
		lineBreaks++;
		hasSeparation = true;
		ch = state.input.charCodeAt(state.position);
		while (ch === 32) {
			state.lineIndent++;
			ch = state.input.charCodeAt(++state.position);
		}
	}
	return lineBreaks;
}
function testDocumentSeparator(state, position = state.position) {
	const ch = state.input.charCodeAt(position);
	if ((ch === 45 || ch === 46) && ch === state.input.charCodeAt(position + 1) && ch === state.input.charCodeAt(position + 2)) {
		const following = state.input.charCodeAt(position + 3);
		return following === 0 || isWsOrEol(following);
	}
	return false;
}
function skipByteOrderMark(state) {
	if (state.position === state.lineStart && state.input.charCodeAt(state.position) === 65279) {
		state.position++;
		state.lineStart = state.position;
	}
}
function testDocumentBoundary(state) {
	if (state.position !== state.lineStart) return false;
	if (testDocumentSeparator(state)) return true;
	if (state.input.charCodeAt(state.position) !== 65279) return false;
	const snapshot = snapshotState(state);
	skipByteOrderMark(state);
	skipSeparationSpace(state, true);
	const ch = state.input.charCodeAt(state.position);
	const result = state.position === state.lineStart && (ch === 37 || ch === 45 && testDocumentSeparator(state));
	restoreState(state, snapshot);
	return result;
}
function skipUntilLineEnd(state) {
	let ch = state.input.charCodeAt(state.position);
	while (ch !== 0 && !isEol(ch)) ch = state.input.charCodeAt(++state.position);
}
function checkPrintable(state, start, end) {
	const match = PATTERN_NON_PRINTABLE.exec(state.input.slice(start, end));
	if (match !== null) {
		state.position = start + match.index + match[0].length - 1;
		throwError(state, "the stream contains non-printable characters");
	}
}
function readTagProperty(state, props, inFlow) {
	if (state.input.charCodeAt(state.position) !== 33) return false;
	if (props.tagStart !== NO_RANGE$1) throwError(state, "duplication of a tag property");
	const start = state.position;
	let isVerbatim = false;
	let isNamed = false;
	let tagHandle = "!";
	let ch = state.input.charCodeAt(++state.position);
	if (ch === 60) {
		isVerbatim = true;
		ch = state.input.charCodeAt(++state.position);
	} else if (ch === 33) {
		isNamed = true;
		tagHandle = "!!";
		ch = state.input.charCodeAt(++state.position);
	}
	let suffixStart = state.position;
	let tagName;
	if (isVerbatim) {
		while (ch !== 0 && ch !== 62) ch = state.input.charCodeAt(++state.position);
		if (ch !== 62) throwError(state, "unexpected end of the stream within a verbatim tag");
		tagName = state.input.slice(suffixStart, state.position);
		state.position++;
	} else {
		while (ch !== 0 && !isWsOrEol(ch) && !(inFlow && isFlowIndicator(ch))) {
			if (ch === 33) {
				if (!isNamed) {
					tagHandle = state.input.slice(suffixStart - 1, state.position + 1);
					if (!PATTERN_TAG_HANDLE.test(tagHandle)) throwError(state, "named tag handle cannot contain such characters");
					isNamed = true;
					suffixStart = state.position + 1;
				} else throwError(state, "tag suffix cannot contain exclamation marks");
			}
			ch = state.input.charCodeAt(++state.position);
		}
		tagName = state.input.slice(suffixStart, state.position);
		if (PATTERN_FLOW_INDICATORS.test(tagName)) throwError(state, "tag suffix cannot contain flow indicator characters");
	}
	if (tagName && !(isVerbatim ? PATTERN_TAG_URI.test(tagName) : PATTERN_TAG_SUFFIX.test(tagName))) throwError(state, `tag name cannot contain such characters: ${tagName}`);
	if (!isVerbatim && tagHandle !== "!" && tagHandle !== "!!" && !HAS_OWN.call(state.tagHandlers, tagHandle)) throwError(state, `undeclared tag handle "${tagHandle}"`);
	props.tagStart = start;
	props.tagEnd = state.position;
	return true;
}
function readAnchorProperty(state, props) {
	if (state.input.charCodeAt(state.position) !== 38) return false;
	if (props.anchorStart !== NO_RANGE$1) throwError(state, "duplication of an anchor property");
	state.position++;
	const start = state.position;
	while (state.input.charCodeAt(state.position) !== 0 && !isWsOrEol(state.input.charCodeAt(state.position)) && !isFlowIndicator(state.input.charCodeAt(state.position))) state.position++;
	if (state.position === start) throwError(state, "name of an anchor node must contain at least one character");
	props.anchorStart = start;
	props.anchorEnd = state.position;
	return true;
}
function readAlias(state, props) {
	if (state.input.charCodeAt(state.position) !== 42) return false;
	if (props.anchorStart !== NO_RANGE$1 || props.tagStart !== NO_RANGE$1) throwError(state, "alias node should not have any properties");
	state.position++;
	const start = state.position;
	while (state.input.charCodeAt(state.position) !== 0 && !isWsOrEol(state.input.charCodeAt(state.position)) && !isFlowIndicator(state.input.charCodeAt(state.position))) state.position++;
	if (state.position === start) throwError(state, "name of an alias node must contain at least one character");
	addAliasEvent(state, start, state.position);
	return true;
}
function readFlowScalarBreak(state, nodeIndent) {
	skipSeparationSpace(state, false);
	if (state.lineIndent < nodeIndent) throwError(state, "deficient indentation");
}
function readSingleQuotedScalar(state, nodeIndent, props) {
	if (state.input.charCodeAt(state.position) !== 39) return false;
	state.position++;
	const start = state.position;
	let simple = true;
	while (state.input.charCodeAt(state.position) !== 0) {
		const ch = state.input.charCodeAt(state.position);
		if (ch === 39) {
			if (state.input.charCodeAt(state.position + 1) === 39) {
				simple = false;
				state.position += 2;
				continue;
			}
			const end = state.position;
			state.position++;
			addScalarEvent(state, start, end, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, SCALAR_STYLE.SINGLE_QUOTED, CHOMPING_MODE.CLIP, -1, simple);
			return true;
		}
		if (isEol(ch)) {
			simple = false;
			readFlowScalarBreak(state, nodeIndent);
		} else if (state.position === state.lineStart && testDocumentSeparator(state)) throwError(state, "unexpected end of the document within a single quoted scalar");
		else if (ch !== 9 && ch < 32) throwError(state, "expected valid JSON character");
		else state.position++;
	}
	throwError(state, "unexpected end of the stream within a single quoted scalar");
}
function readDoubleQuotedScalar(state, nodeIndent, props) {
	if (state.input.charCodeAt(state.position) !== 34) return false;
	state.position++;
	const start = state.position;
	let simple = true;
	while (state.input.charCodeAt(state.position) !== 0) {
		const ch = state.input.charCodeAt(state.position);
		if (ch === 34) {
			const end = state.position;
			state.position++;
			addScalarEvent(state, start, end, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, SCALAR_STYLE.DOUBLE_QUOTED, CHOMPING_MODE.CLIP, -1, simple);
			return true;
		}
		if (ch === 92) {
			simple = false;
			const escaped = state.input.charCodeAt(++state.position);
			if (isEol(escaped)) readFlowScalarBreak(state, nodeIndent);
			else if (isSimpleEscape(escaped)) state.position++;
			else {
				let hexLength = escapedHexLen(escaped);
				if (hexLength === 0) throwError(state, "unknown escape sequence");
				while (hexLength-- > 0) {
					state.position++;
					if (fromHexCode(state.input.charCodeAt(state.position)) < 0) throwError(state, "expected hexadecimal character");
				}
				state.position++;
			}
		} else if (isEol(ch)) {
			simple = false;
			readFlowScalarBreak(state, nodeIndent);
		} else if (state.position === state.lineStart && testDocumentSeparator(state)) throwError(state, "unexpected end of the document within a double quoted scalar");
		else if (ch !== 9 && ch < 32) throwError(state, "expected valid JSON character");
		else state.position++;
	}
	throwError(state, "unexpected end of the stream within a double quoted scalar");
}
function readBlockScalar(state, parentIndent, props) {
	const ch = state.input.charCodeAt(state.position);
	let chomping = CHOMPING_MODE.CLIP;
	let indent = -1;
	let detectedIndent = false;
	if (ch !== 124 && ch !== 62) return false;
	const style = ch === 124 ? SCALAR_STYLE.LITERAL_BLOCK : SCALAR_STYLE.FOLDED_BLOCK;
	state.position++;
	while (state.input.charCodeAt(state.position) !== 0) {
		const current = state.input.charCodeAt(state.position);
		const digit = fromDecimalCode(current);
		if (current === 43 || current === 45) {
			if (chomping !== CHOMPING_MODE.CLIP) throwError(state, "repeat of a chomping mode identifier");
			chomping = current === 43 ? CHOMPING_MODE.KEEP : CHOMPING_MODE.STRIP;
			state.position++;
		} else if (digit >= 0) {
			if (digit === 0) throwError(state, "bad explicit indentation width of a block scalar; it cannot be less than one");
			if (detectedIndent) throwError(state, "repeat of an indentation width identifier");
			indent = parentIndent + digit - 1;
			detectedIndent = true;
			state.position++;
		} else break;
	}
	let hadWhitespace = false;
	while (isWhiteSpace(state.input.charCodeAt(state.position))) {
		hadWhitespace = true;
		state.position++;
	}
	if (hadWhitespace && state.input.charCodeAt(state.position) === 35) skipUntilLineEnd(state);
	if (isEol(state.input.charCodeAt(state.position))) consumeLineBreak(state);
	else if (state.input.charCodeAt(state.position) !== 0) throwError(state, "a line break is expected");
	let contentIndent = detectedIndent ? indent : -1;
	let maxLeadingIndent = 0;
	const valueStart = state.position;
	let valueEnd = state.position;
	while (state.input.charCodeAt(state.position) !== 0) {
		const linePosition = state.position;
		let column = 0;
		while (state.input.charCodeAt(linePosition + column) === 32) column++;
		const first = state.input.charCodeAt(linePosition + column);
		if (first === 0) {
			if (contentIndent >= 0) {
				if (column > contentIndent) valueEnd = linePosition + column;
			} else if (column > 0) valueEnd = linePosition + column;
			break;
		}
		if (testDocumentBoundary(state)) break;
		if (!detectedIndent && contentIndent === -1 && isEol(first)) maxLeadingIndent = Math.max(maxLeadingIndent, column);
		if (!detectedIndent && contentIndent === -1 && !isEol(first)) {
			if (first === 9 && column < parentIndent) {
				state.position = linePosition + column;
				throwError(state, "tab characters must not be used in indentation");
			}
			if (column >= parentIndent && column < maxLeadingIndent) {
				state.position = linePosition + column;
				throwError(state, "bad indentation of a mapping entry");
			}
		}
		if (contentIndent === -1 && first !== 0 && !isEol(first) && column < parentIndent) {
			state.lineIndent = column;
			state.position = linePosition + column;
			break;
		}
		if (!detectedIndent && first !== 0 && !isEol(first) && contentIndent === -1) contentIndent = column;
		const requiredIndent = contentIndent === -1 ? parentIndent + 1 : contentIndent;
		if (first !== 0 && !isEol(first) && column < requiredIndent) {
			state.lineIndent = column;
			state.position = linePosition + column;
			break;
		}
		skipUntilLineEnd(state);
		valueEnd = state.position;
		if (isEol(state.input.charCodeAt(state.position))) {
			consumeLineBreak(state);
			valueEnd = state.position;
		}
	}
	checkPrintable(state, valueStart, valueEnd);
	addScalarEvent(state, valueStart, valueEnd, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, style, chomping, contentIndent);
	return true;
}
function canStartPlainScalar(state, nodeContext) {
	const ch = state.input.charCodeAt(state.position);
	const inFlow = nodeContext === CONTEXT_FLOW_IN;
	if (ch === 0 || isWsOrEol(ch) || ch === 35 || ch === 38 || ch === 42 || ch === 33 || ch === 124 || ch === 62 || ch === 39 || ch === 34 || ch === 37 || ch === 64 || ch === 96 || isFlowIndicator(ch)) return false;
	if (ch === 63 || ch === 45) {
		const following = state.input.charCodeAt(state.position + 1);
		if (isWsOrEolOrEnd(following) || inFlow && isFlowIndicator(following)) return false;
	}
	return true;
}
function readPlainScalar(state, nodeIndent, nodeContext, props) {
	if (!canStartPlainScalar(state, nodeContext)) return false;
	const start = state.position;
	let end = state.position;
	let ch = state.input.charCodeAt(state.position);
	const inFlow = nodeContext === CONTEXT_FLOW_IN;
	let multiline = false;
	while (ch !== 0) {
		if (testDocumentBoundary(state)) break;
		if (ch === 58) {
			const following = state.input.charCodeAt(state.position + 1);
			if (isWsOrEolOrEnd(following) || inFlow && isFlowIndicator(following)) break;
		} else if (ch === 35) {
			if (isWsOrEol(state.input.charCodeAt(state.position - 1))) break;
		} else if (inFlow && isFlowIndicator(ch)) break;
		else if (isEol(ch)) {
			const savedPosition = state.position;
			const savedLine = state.line;
			const savedLineStart = state.lineStart;
			const savedLineIndent = state.lineIndent;
			skipSeparationSpace(state, false);
			if (state.lineIndent >= nodeIndent) {
				multiline = true;
				ch = state.input.charCodeAt(state.position);
				continue;
			}
			state.position = savedPosition;
			state.line = savedLine;
			state.lineStart = savedLineStart;
			state.lineIndent = savedLineIndent;
			break;
		}
		if (!isWhiteSpace(ch)) end = state.position + 1;
		ch = state.input.charCodeAt(++state.position);
	}
	if (end === start) return false;
	checkPrintable(state, start, end);
	addScalarEvent(state, start, end, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, SCALAR_STYLE.PLAIN, CHOMPING_MODE.CLIP, -1, !multiline);
	return true;
}
function skipFlowSeparationSpace(state, nodeIndent) {
	const startLine = state.line;
	skipSeparationSpace(state, true);
	if (state.line > startLine && state.lineIndent < nodeIndent || state.firstTabInLine !== -1 && state.lineIndent < nodeIndent) throwError(state, "deficient indentation");
}
function readFlowCollection(state, nodeIndent, props) {
	const ch = state.input.charCodeAt(state.position);
	const isMapping = ch === 123;
	const start = state.position;
	let readNext = true;
	if (ch !== 91 && ch !== 123) return false;
	const terminator = isMapping ? 125 : 93;
	if (isMapping) addMappingEvent(state, start, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, COLLECTION_STYLE.FLOW);
	else addSequenceEvent(state, start, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, COLLECTION_STYLE.FLOW);
	state.position++;
	while (state.input.charCodeAt(state.position) !== 0) {
		skipFlowSeparationSpace(state, nodeIndent);
		let ch = state.input.charCodeAt(state.position);
		if (ch === terminator) {
			state.position++;
			addPopEvent(state);
			return true;
		} else if (!readNext) throwError(state, "missed comma between flow collection entries");
		else if (ch === 44) throwError(state, "expected the node content, but found ','");
		let isPair = false;
		let isExplicitPair = false;
		if (ch === 63 && isWsOrEol(state.input.charCodeAt(state.position + 1))) {
			isPair = isExplicitPair = true;
			state.position += 1;
			skipFlowSeparationSpace(state, nodeIndent);
		}
		const entryLine = state.line;
		const entryStart = snapshotState(state);
		const keyWasRead = parseNode(state, nodeIndent, CONTEXT_FLOW_IN, false, true);
		skipFlowSeparationSpace(state, nodeIndent);
		ch = state.input.charCodeAt(state.position);
		if ((isMapping || isExplicitPair || state.line === entryLine) && ch === 58) {
			isPair = true;
			state.position++;
			skipFlowSeparationSpace(state, nodeIndent);
			if (!isMapping) {
				insertFlowPairMappingEvent(state, entryStart);
				if (!keyWasRead) addEmptyScalarEvent(state);
			} else if (!keyWasRead) addEmptyScalarEvent(state);
			if (!parseNode(state, nodeIndent, CONTEXT_FLOW_IN, false, true)) addEmptyScalarEvent(state);
			skipFlowSeparationSpace(state, nodeIndent);
			if (!isMapping) addPopEvent(state);
		} else if (isMapping && isPair) {
			if (!keyWasRead) addEmptyScalarEvent(state);
			addEmptyScalarEvent(state);
		} else if (isMapping) addEmptyScalarEvent(state);
		else if (isPair) {
			insertFlowPairMappingEvent(state, entryStart);
			if (!keyWasRead) addEmptyScalarEvent(state);
			addEmptyScalarEvent(state);
			addPopEvent(state);
		}
		ch = state.input.charCodeAt(state.position);
		if (ch === 44) {
			readNext = true;
			state.position++;
		} else readNext = false;
	}
	throwError(state, "unexpected end of the stream within a flow collection");
}
function readBlockSequence(state, nodeIndent, props) {
	if (state.firstTabInLine !== -1 || state.input.charCodeAt(state.position) !== 45 || !isWsOrEolOrEnd(state.input.charCodeAt(state.position + 1))) return false;
	addSequenceEvent(state, state.position, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, COLLECTION_STYLE.BLOCK);
	while (state.input.charCodeAt(state.position) === 45 && isWsOrEolOrEnd(state.input.charCodeAt(state.position + 1))) {
		if (state.firstTabInLine !== -1) {
			state.position = state.firstTabInLine;
			throwError(state, "tab characters must not be used in indentation");
		}
		const entryLine = state.line;
		state.position++;
		const hadBreak = skipSeparationSpace(state, true) > 0;
		if (state.firstTabInLine !== -1 && state.input.charCodeAt(state.position) === 45 && isWsOrEolOrEnd(state.input.charCodeAt(state.position + 1))) throwError(state, "bad indentation of a sequence entry");
		if (hadBreak && state.lineIndent <= nodeIndent) addEmptyScalarEvent(state);
		else parseNode(state, nodeIndent, CONTEXT_BLOCK_IN, false, true);
		skipSeparationSpace(state, true);
		if (state.lineIndent < nodeIndent || state.position >= state.length) break;
		if (state.lineIndent > nodeIndent) throwError(state, "bad indentation of a sequence entry");
		if (state.line === entryLine && state.input.charCodeAt(state.position) === 45 && isWsOrEolOrEnd(state.input.charCodeAt(state.position + 1))) throwError(state, "bad indentation of a sequence entry");
	}
	addPopEvent(state);
	return true;
}
function readBlockMapping(state, nodeIndent, flowIndent, props) {
	let atExplicitKey = false;
	let detected = false;
	let mappingOpened = false;
	let pendingExplicitKey = false;
	if (state.firstTabInLine !== -1) return false;
	let ch = state.input.charCodeAt(state.position);
	while (ch !== 0) {
		if (!atExplicitKey && state.firstTabInLine !== -1) {
			state.position = state.firstTabInLine;
			throwError(state, "tab characters must not be used in indentation");
		}
		const following = state.input.charCodeAt(state.position + 1);
		const entryLine = state.line;
		if ((ch === 63 || ch === 58) && isWsOrEolOrEnd(following)) {
			if (!mappingOpened) {
				addMappingEvent(state, state.position, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, COLLECTION_STYLE.BLOCK);
				mappingOpened = true;
			}
			if (ch === 63) {
				if (atExplicitKey) addEmptyScalarEvent(state);
				detected = true;
				atExplicitKey = true;
			} else if (atExplicitKey) atExplicitKey = false;
			else {
				addEmptyScalarEvent(state);
				detected = true;
				atExplicitKey = false;
			}
			state.position += 1;
			pendingExplicitKey = true;
		} else {
			if (atExplicitKey) {
				addEmptyScalarEvent(state);
				atExplicitKey = false;
			}
			const beforeKey = snapshotState(state);
			if (!parseNode(state, flowIndent, CONTEXT_FLOW_OUT, false, true)) break;
			if (state.line === entryLine) {
				ch = state.input.charCodeAt(state.position);
				while (isWhiteSpace(ch)) ch = state.input.charCodeAt(++state.position);
				if (ch === 58) {
					ch = state.input.charCodeAt(++state.position);
					if (!isWsOrEolOrEnd(ch)) throwError(state, "a whitespace character is expected after the key-value separator within a block mapping");
					if (!mappingOpened) {
						state.events.splice(beforeKey.eventsLength, 0, {
							type: EVENT_ID.MAPPING,
							start: beforeKey.position,
							anchorStart: props.anchorStart,
							anchorEnd: props.anchorEnd,
							tagStart: props.tagStart,
							tagEnd: props.tagEnd,
							style: COLLECTION_STYLE.BLOCK
						});
						mappingOpened = true;
					}
					detected = true;
					atExplicitKey = false;
					pendingExplicitKey = false;
				} else if (detected) throwError(state, "expected ':' after a mapping key");
				else {
					if (props.anchorStart !== NO_RANGE$1 || props.tagStart !== NO_RANGE$1) {
						restoreState(state, beforeKey);
						return false;
					}
					return true;
				}
			} else if (detected) throwError(state, "can not read a block mapping entry; a multiline key may not be an implicit key");
			else {
				if (props.anchorStart !== NO_RANGE$1 || props.tagStart !== NO_RANGE$1) {
					restoreState(state, beforeKey);
					return false;
				}
				return true;
			}
		}
		if (parseNode(state, nodeIndent, CONTEXT_BLOCK_OUT, true, pendingExplicitKey)) pendingExplicitKey = false;
		if (!atExplicitKey) {
			if (pendingExplicitKey) {
				addEmptyScalarEvent(state);
				pendingExplicitKey = false;
			}
		}
		skipSeparationSpace(state, true);
		ch = state.input.charCodeAt(state.position);
		if ((state.line === entryLine || state.lineIndent > nodeIndent) && ch !== 0) throwError(state, "bad indentation of a mapping entry");
		else if (state.lineIndent < nodeIndent) break;
	}
	if (!detected) return false;
	if (atExplicitKey) addEmptyScalarEvent(state);
	if (mappingOpened) addPopEvent(state);
	return true;
}
function parseNode(state, parentIndent, nodeContext, allowToSeek, allowCompact, allowPropertyMapping = true) {
	if (state.depth >= state.maxDepth) throwError(state, `nesting exceeded maxDepth (${state.maxDepth})`);
	state.depth++;
	let indentStatus = 1;
	let atNewLine = false;
	let hasContent = false;
	let propertyStart = null;
	const props = emptyProperties();
	let allowBlockScalars = nodeContext === CONTEXT_BLOCK_OUT || nodeContext === CONTEXT_BLOCK_IN;
	let allowBlockCollections = allowBlockScalars;
	const allowBlockStyles = allowBlockScalars;
	if (allowToSeek && skipSeparationSpace(state, true)) {
		atNewLine = true;
		if (state.lineIndent > parentIndent) indentStatus = 1;
		else if (state.lineIndent === parentIndent) indentStatus = 0;
		else indentStatus = -1;
	}
	if (indentStatus === 1) while (true) {
		const ch = state.input.charCodeAt(state.position);
		const propertyState = snapshotState(state);
		if (atNewLine && indentStatus !== 1 && (ch === 33 || ch === 38)) break;
		if (atNewLine && allowBlockStyles && (props.tagStart !== NO_RANGE$1 || props.anchorStart !== NO_RANGE$1) && (ch === 33 || ch === 38)) {
			const fallbackState = snapshotState(state);
			const flowIndent = parentIndent + 1;
			if (readBlockMapping(state, state.position - state.lineStart, flowIndent, props) && state.events[fallbackState.eventsLength]?.type === EVENT_ID.MAPPING) {
				state.depth--;
				return true;
			}
			restoreState(state, fallbackState);
		}
		if (atNewLine && (ch === 33 && props.tagStart !== NO_RANGE$1 || ch === 38 && props.anchorStart !== NO_RANGE$1)) break;
		if (!readTagProperty(state, props, nodeContext === CONTEXT_FLOW_IN) && !readAnchorProperty(state, props)) break;
		if (propertyStart === null) propertyStart = propertyState;
		if (skipSeparationSpace(state, true)) {
			atNewLine = true;
			allowBlockCollections = allowBlockStyles;
			if (state.lineIndent > parentIndent) indentStatus = 1;
			else if (state.lineIndent === parentIndent) indentStatus = 0;
			else indentStatus = -1;
		} else allowBlockCollections = false;
	}
	if (allowBlockCollections) allowBlockCollections = atNewLine || allowCompact;
	if (indentStatus === 1 || nodeContext === CONTEXT_BLOCK_OUT) {
		const flowIndent = nodeContext === CONTEXT_FLOW_IN || nodeContext === CONTEXT_FLOW_OUT ? parentIndent : parentIndent + 1;
		const blockIndent = state.position - state.lineStart;
		if (indentStatus === 1) {
			if (allowBlockCollections && (readBlockSequence(state, blockIndent, props) || readBlockMapping(state, blockIndent, flowIndent, props)) || readFlowCollection(state, flowIndent, props)) hasContent = true;
			else {
				const ch = state.input.charCodeAt(state.position);
				if (propertyStart !== null && allowPropertyMapping && allowBlockStyles && !allowBlockCollections && ch !== 124 && ch !== 62) {
					const fallbackState = snapshotState(state);
					const propertyIndent = propertyStart.position - propertyStart.lineStart;
					restoreState(state, propertyStart);
					if (readBlockMapping(state, propertyIndent, flowIndent, emptyProperties()) && state.events[fallbackState.eventsLength]?.type === EVENT_ID.MAPPING) hasContent = true;
					else restoreState(state, fallbackState);
				}
				if (!hasContent && (allowBlockScalars && readBlockScalar(state, flowIndent, props) || readSingleQuotedScalar(state, flowIndent, props) || readDoubleQuotedScalar(state, flowIndent, props) || readAlias(state, props) || readPlainScalar(state, flowIndent, nodeContext, props))) hasContent = true;
			}
		} else if (indentStatus === 0) hasContent = allowBlockCollections && readBlockSequence(state, blockIndent, props);
	}
	allowBlockScalars = allowBlockScalars && !hasContent;
	if (!hasContent && (props.anchorStart !== NO_RANGE$1 || props.tagStart !== NO_RANGE$1 || allowBlockScalars)) {
		addScalarEvent(state, NO_RANGE$1, NO_RANGE$1, props.anchorStart, props.anchorEnd, props.tagStart, props.tagEnd, SCALAR_STYLE.PLAIN);
		hasContent = true;
	}
	state.depth--;
	return hasContent || props.anchorStart !== NO_RANGE$1 || props.tagStart !== NO_RANGE$1;
}
function readDirective(state) {
	if (state.lineIndent > 0 || state.input.charCodeAt(state.position) !== 37) return false;
	state.position++;
	const nameStart = state.position;
	while (state.input.charCodeAt(state.position) !== 0 && !isWsOrEol(state.input.charCodeAt(state.position))) state.position++;
	const name = state.input.slice(nameStart, state.position);
	const args = [];
	if (name.length === 0) throwError(state, "directive name must not be less than one character in length");
	while (state.input.charCodeAt(state.position) !== 0 && !isEol(state.input.charCodeAt(state.position))) {
		while (isWhiteSpace(state.input.charCodeAt(state.position))) state.position++;
		if (state.input.charCodeAt(state.position) === 35 || isEol(state.input.charCodeAt(state.position)) || state.input.charCodeAt(state.position) === 0) break;
		const start = state.position;
		while (state.input.charCodeAt(state.position) !== 0 && !isWsOrEol(state.input.charCodeAt(state.position))) state.position++;
		args.push(state.input.slice(start, state.position));
	}
	if (isEol(state.input.charCodeAt(state.position))) consumeLineBreak(state);
	if (name === "YAML") {
		if (state.directives.some((directive) => directive.kind === "yaml")) throwError(state, "duplication of %YAML directive");
		if (args.length !== 1) throwError(state, "YAML directive accepts exactly one argument");
		const match = /^([0-9]+)\.([0-9]+)$/.exec(args[0]);
		if (match === null) throwError(state, "ill-formed argument of the YAML directive");
		if (parseInt(match[1], 10) !== 1) throwError(state, "unacceptable YAML version of the document");
		state.directives.push({
			kind: "yaml",
			version: args[0]
		});
	} else if (name === "TAG") {
		if (args.length !== 2) throwError(state, "TAG directive accepts exactly two arguments");
		const [handle, prefix] = args;
		if (!PATTERN_TAG_HANDLE.test(handle)) throwError(state, "ill-formed tag handle (first argument) of the TAG directive");
		if (HAS_OWN.call(state.tagHandlers, handle)) throwError(state, `there is a previously declared suffix for "${handle}" tag handle`);
		if (!PATTERN_TAG_PREFIX.test(prefix)) throwError(state, "ill-formed tag prefix (second argument) of the TAG directive");
		state.tagHandlers[handle] = prefix;
		state.directives.push({
			kind: "tag",
			handle,
			prefix
		});
	}
	return true;
}
function readDocument(state) {
	state.directives = [];
	state.tagHandlers = Object.create(null);
	let hasDirectives = false;
	skipSeparationSpace(state, true);
	while (readDirective(state)) {
		hasDirectives = true;
		skipSeparationSpace(state, true);
	}
	let explicitStart = false;
	let explicitEnd = false;
	let allowCompact = true;
	if (state.lineIndent === 0 && state.input.charCodeAt(state.position) === 45 && state.input.charCodeAt(state.position + 1) === 45 && state.input.charCodeAt(state.position + 2) === 45 && isWsOrEolOrEnd(state.input.charCodeAt(state.position + 3))) {
		explicitStart = true;
		const markerLine = state.line;
		state.position += 3;
		skipSeparationSpace(state, true);
		allowCompact = state.line > markerLine;
	} else if (hasDirectives) throwError(state, "directives end mark is expected");
	const documentEventIndex = state.events.length;
	if (!explicitStart && state.position === state.lineStart && state.input.charCodeAt(state.position) === 46 && testDocumentSeparator(state)) {
		state.position += 3;
		skipSeparationSpace(state, true);
		return;
	}
	addDocumentEvent(state, explicitStart, false);
	if (!parseNode(state, state.lineIndent - 1, CONTEXT_BLOCK_OUT, false, allowCompact, allowCompact)) addEmptyScalarEvent(state);
	skipSeparationSpace(state, true);
	if (state.position === state.lineStart && testDocumentSeparator(state)) {
		explicitEnd = state.input.charCodeAt(state.position) === 46;
		if (explicitEnd) {
			const markerLine = state.line;
			state.position += 3;
			skipSeparationSpace(state, true);
			if (state.line === markerLine && state.position < state.length) throwError(state, "end of the stream or a document separator is expected");
		}
	}
	const documentEvent = state.events[documentEventIndex];
	if (documentEvent?.type === EVENT_ID.DOCUMENT) documentEvent.explicitEnd = explicitEnd;
	addPopEvent(state);
	if (!explicitEnd && state.position < state.length && !testDocumentBoundary(state)) throwError(state, "end of the stream or a document separator is expected");
}
/**
* Parses YAML into a flat event stream referencing source text by offsets.
*
* @category Events
*/
function parseEvents(input, options) {
	const length = input.length;
	const state = {
		...DEFAULT_PARSER_OPTIONS,
		...options,
		input: `${input}\0`,
		length,
		position: 0,
		line: 0,
		lineStart: 0,
		lineIndent: 0,
		firstTabInLine: -1,
		depth: 0,
		directives: [],
		tagHandlers: Object.create(null),
		events: []
	};
	const nullpos = input.indexOf("\0");
	if (nullpos !== -1) YAMLException.throwAt(input, nullpos, "null byte is not allowed in input", state.filename);
	while (state.position < state.length) {
		skipByteOrderMark(state);
		skipSeparationSpace(state, true);
		if (state.position >= state.length) break;
		const documentStart = state.position;
		readDocument(state);
		if (state.position === documentStart)
 /* c8 ignore next */
		throwError(state, "can not read a document");
	}
	return state.events;
}
function hasBit(mask, bit) {
	return (mask & 1 << bit) !== 0;
}
/**
* Default scalar styling rules in application order.
* See [Scalar styling](../../docs/scalar_styling.md) for usage details.
*
* @category AST
*/
var DEFAULT_SCALAR_STYLE_RULES = {
	applyQuoteFlowKeysOption,
	doubleQuoteForInvisibles,
	doubleQuoteWhitespaceOnly,
	applyForceQuotesOption,
	tryLongOrMultilineAsBlock,
	quoteInvalidPlain,
	fallbackToDoubleQuoted
};
function _preferredQuotedStyle(layout) {
	if (layout.presenterOptions.quoteStyle === "single" && hasBit(layout.allowedStylesMask, SCALAR_STYLE.SINGLE_QUOTED)) return SCALAR_STYLE.SINGLE_QUOTED;
	return SCALAR_STYLE.DOUBLE_QUOTED;
}
function applyQuoteFlowKeysOption(layout) {
	if (!layout.presenterOptions.quoteFlowKeys) return;
	if (!layout.isKey || !layout.flowOnly || layout.style !== SCALAR_STYLE.PLAIN) return;
	layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
}
function doubleQuoteForInvisibles(layout) {
	if (layout.style === SCALAR_STYLE.PLAIN && /[\t\x7F-\xA0\u2028\u2029\uFEFF\uFFFE\uFFFF]/.test(layout.node.value)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
}
function doubleQuoteWhitespaceOnly(layout) {
	if (layout.style === SCALAR_STYLE.PLAIN && /^\s+$/.test(layout.node.value)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
}
function applyForceQuotesOption(layout) {
	if (!layout.presenterOptions.forceQuotes) return;
	if (layout.isKey || layout.style !== SCALAR_STYLE.PLAIN) return;
	if (layout.node.tag !== layout.presenterOptions.schema.defaultScalarTag.tagName) return;
	layout.style = layout.node.value.includes("\n") ? SCALAR_STYLE.DOUBLE_QUOTED : _preferredQuotedStyle(layout);
}
function tryLongOrMultilineAsBlock(layout) {
	if (layout.style !== SCALAR_STYLE.PLAIN || layout.isKey) return;
	const value = layout.node.value;
	const multiline = value.indexOf("\n") !== -1;
	if (!hasBit(layout.allowedStylesMask, SCALAR_STYLE.LITERAL_BLOCK)) {
		if (multiline) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
		return;
	}
	const w = layout.presenterOptions.lineWidth;
	if (w === -1) {
		if (multiline) layout.style = SCALAR_STYLE.LITERAL_BLOCK;
		return;
	}
	const availableWidth = Math.max(Math.min(w, 40), w - layout.shiftOfContent);
	let position = 0;
	let shouldFold = false;
	while (position <= value.length) {
		let lineEnd = value.length;
		const nextLineBreak = value.indexOf("\n", position);
		if (nextLineBreak !== -1) lineEnd = nextLineBreak;
		const line = value.slice(position, lineEnd);
		if (line.length > availableWidth && line[0] !== " " && / [^ \t]/.test(line)) shouldFold = true;
		if (nextLineBreak === -1) break;
		position = nextLineBreak + 1;
	}
	if (shouldFold) layout.style = SCALAR_STYLE.FOLDED_BLOCK;
	else if (multiline) layout.style = SCALAR_STYLE.LITERAL_BLOCK;
}
function quoteInvalidPlain(layout) {
	if (layout.style === SCALAR_STYLE.PLAIN && !hasBit(layout.allowedStylesMask, SCALAR_STYLE.PLAIN)) layout.style = _preferredQuotedStyle(layout);
}
function fallbackToDoubleQuoted(layout) {
	if (!hasBit(layout.allowedStylesMask, layout.style)) layout.style = SCALAR_STYLE.DOUBLE_QUOTED;
}
var SRC_C_PRINTABLE = "[\\x09\\x0A\\x0D\\x20-\\x7E\\x85\\xA0-\\uD7FF\\uE000-\\uFFFD\\u{10000}-\\u{10FFFF}]";
var SRC_B_CHAR = "[\\n\\r]";
var SRC_C_BYTE_ORDER_MARK = "\\uFEFF";
var SRC_S_WHITE = "[ \\t]";
var SRC_NB_CHAR = `(?:(?!(?:${SRC_B_CHAR}|${SRC_C_BYTE_ORDER_MARK}))${SRC_C_PRINTABLE})`;
var SRC_NS_CHAR = `(?:(?!${SRC_S_WHITE})${SRC_NB_CHAR})`;
var SRC_NB_JSON = "[\\x09\\x20-\\uD7FF\\uE000-\\uFFFF\\u{10000}-\\u{10FFFF}]";
var SRC_C_INDICATOR = "[-?:,\\[\\]{}#&*!|>'\"%@`]";
var SRC_C_FLOW_INDICATOR = "[,\\[\\]{}]";
var SRC_NS_PLAIN_SAFE_FLOW_OUT = SRC_NS_CHAR;
var SRC_NS_PLAIN_SAFE_FLOW_IN = `(?:(?!${SRC_C_FLOW_INDICATOR})${SRC_NS_CHAR})`;
var SRC_NS_PLAIN_FIRST_FLOW_OUT = `(?:(?:(?!${SRC_C_INDICATOR})${SRC_NS_CHAR})|[?:-](?=${SRC_NS_PLAIN_SAFE_FLOW_OUT}))`;
var SRC_NS_PLAIN_FIRST_FLOW_IN = `(?:(?:(?!${SRC_C_INDICATOR})${SRC_NS_CHAR})|[?:-](?=${SRC_NS_PLAIN_SAFE_FLOW_IN}))`;
var SRC_NS_PLAIN_CHAR_FLOW_OUT = `(?:(?:(?![:#])${SRC_NS_PLAIN_SAFE_FLOW_OUT})|:(?=${SRC_NS_PLAIN_SAFE_FLOW_OUT}))#*`;
var SRC_NS_PLAIN_CHAR_FLOW_IN = `(?:(?:(?![:#])${SRC_NS_PLAIN_SAFE_FLOW_IN})|:(?=${SRC_NS_PLAIN_SAFE_FLOW_IN}))#*`;
var SRC_NB_NS_PLAIN_IN_LINE_FLOW_OUT = `(?:${SRC_S_WHITE}*${SRC_NS_PLAIN_CHAR_FLOW_OUT})*`;
var SRC_NB_NS_PLAIN_IN_LINE_FLOW_IN = `(?:${SRC_S_WHITE}*${SRC_NS_PLAIN_CHAR_FLOW_IN})*`;
var SRC_NS_PLAIN_ONE_LINE_FLOW_OUT = `${SRC_NS_PLAIN_FIRST_FLOW_OUT}#*${SRC_NB_NS_PLAIN_IN_LINE_FLOW_OUT}`;
var SRC_NS_PLAIN_ONE_LINE_FLOW_IN = `${SRC_NS_PLAIN_FIRST_FLOW_IN}#*${SRC_NB_NS_PLAIN_IN_LINE_FLOW_IN}`;
var SRC_NS_PLAIN_ONE_LINE_BLOCK_KEY = SRC_NS_PLAIN_ONE_LINE_FLOW_OUT;
var SRC_NS_PLAIN_ONE_LINE_FLOW_KEY = SRC_NS_PLAIN_ONE_LINE_FLOW_IN;
var SRC_S_NS_PLAIN_NEXT_LINE_FLOW_OUT = `\\n+${SRC_NS_PLAIN_CHAR_FLOW_OUT}${SRC_NB_NS_PLAIN_IN_LINE_FLOW_OUT}`;
var SRC_S_NS_PLAIN_NEXT_LINE_FLOW_IN = `\\n+${SRC_NS_PLAIN_CHAR_FLOW_IN}${SRC_NB_NS_PLAIN_IN_LINE_FLOW_IN}`;
var SRC_NS_PLAIN_MULTI_LINE_FLOW_OUT = `${SRC_NS_PLAIN_ONE_LINE_FLOW_OUT}(?:${SRC_S_NS_PLAIN_NEXT_LINE_FLOW_OUT})*`;
var SRC_NS_PLAIN_MULTI_LINE_FLOW_IN = `${SRC_NS_PLAIN_ONE_LINE_FLOW_IN}(?:${SRC_S_NS_PLAIN_NEXT_LINE_FLOW_IN})*`;
new RegExp(`^(?:${SRC_NS_PLAIN_MULTI_LINE_FLOW_OUT})$`, "u");
new RegExp(`^(?:${SRC_NS_PLAIN_MULTI_LINE_FLOW_IN})$`, "u");
new RegExp(`^(?:${SRC_NS_PLAIN_ONE_LINE_BLOCK_KEY})$`, "u");
new RegExp(`^(?:${SRC_NS_PLAIN_ONE_LINE_FLOW_KEY})$`, "u");
new RegExp(`^(?:${SRC_NB_JSON})*$`, "u");
new RegExp(`^(?:${SRC_NB_JSON}|\\n)*$`, "u");
new RegExp(`^(?:${SRC_NB_CHAR}|\\n)*$`, "u");
Object.keys(DEFAULT_SCALAR_STYLE_RULES).map((name) => Reflect.get(DEFAULT_SCALAR_STYLE_RULES, name));
// src/skill/read-yaml.ts
init_text();
init_rules();
/**
* UTF-8 bytes, nested collections, keys in all mappings, reported diagnostics.
*/
const yamlLimits = {
	bytes: 65536,
	depth: 32,
	keys: 4e3,
	diagnostics: 20
};
/** Keys that would reach the prototype of an object made from the frontmatter. */
const reservedKeys = /* @__PURE__ */ new Set([
	"__proto__",
	"constructor",
	"prototype"
]);
/**
* Reads one YAML document. Anchors, aliases, tags, duplicate keys, keys that reach a prototype and
* excessive length or nesting are errors.
*/
function readYaml(source, options) {
	const size = source.length > yamlLimits.bytes / 3 ? Buffer.byteLength(source) : 0;
	const reader = new TreeReader(source, options);
	if (size > yamlLimits.bytes) {
		const message = `The YAML has ${size} bytes; ${yamlLimits.bytes} are allowed.`;
		reader.report("frontmatter-too-large", 0, message);
		return reader.failed();
	}
	try {
		return reader.read(parseEvents(source, { maxDepth: Number.MAX_SAFE_INTEGER }));
	} catch (error) {
		if (error instanceof YAMLException) reader.reportSyntax(error);
		else if (error instanceof RangeError) reader.report("yaml-too-deep", 0, tooDeep);
		else throw error;
		return reader.failed();
	}
}
const tooDeep = `Lists and mappings are nested more than ${yamlLimits.depth} levels deep.`;
const styles = [
	"plain",
	"plain",
	"single",
	"double",
	"literal",
	"folded"
];
var TreeReader = class {
	#source;
	#options;
	#placeOf;
	#diagnostics = [];
	#events = [];
	#next = 0;
	/** The offset after the last event, if the event has one. */
	#end = 0;
	#keys = 0;
	constructor(source, options) {
		this.#source = source;
		this.#options = options;
		this.#placeOf = placesIn(source);
	}
	read(events) {
		this.#events = events;
		this.#checkEvents();
		if (this.#diagnostics.length > 0 || events.length === 0) return this.failed();
		this.#next = 1;
		const root = this.#node();
		const second = events[this.#next + 1];
		if (second?.type === EVENT_ID.DOCUMENT) this.report("yaml-several-documents", this.#documentStart(second.explicitStart), "A second YAML document begins here; one is allowed.");
		return this.#diagnostics.length > 0 ? this.failed() : {
			root,
			diagnostics: []
		};
	}
	failed() {
		return {
			root: void 0,
			diagnostics: this.#diagnostics.slice(0, yamlLimits.diagnostics)
		};
	}
	report(code, offset, message, hint) {
		const at = this.#at(offset);
		this.#diagnostics.push(finding(code, this.#options.path, at, message, hint));
	}
	reportSyntax({ reason, mark }) {
		const offset = mark?.position ?? 0;
		const character = this.#source.charAt(offset);
		const escape = "Write the value in single quotes.";
		const quote = /[@`:]/.test(character) ? "Quote the value." : void 0;
		const hint = reason.includes("escape") ? escape : quote;
		this.report("yaml-syntax", offset, `The YAML cannot be read: ${reason}`, hint);
	}
	#at(offset) {
		const { line, column } = this.#placeOf(offset);
		return {
			line: this.#options.firstLine - 1 + line,
			column
		};
	}
	#checkEvents() {
		let depth = 0;
		for (const event of this.#events) {
			if (event.type === EVENT_ID.POP) depth--;
			else if (event.type === EVENT_ID.DOCUMENT) depth = 0;
			else this.#checkProperties(event);
			if (!("start" in event)) continue;
			depth++;
			if (depth === yamlLimits.depth + 1) this.report("yaml-too-deep", event.start, tooDeep);
		}
	}
	#checkProperties(event) {
		const { anchorStart, anchorEnd } = event;
		if (anchorStart >= 0) {
			const name = this.#source.slice(anchorStart - 1, anchorEnd);
			const kind = event.type === EVENT_ID.ALIAS ? "alias" : "anchor";
			this.report("yaml-anchor", anchorStart - 1, `The ${kind} \`${name}\` is not allowed.`);
		}
		if (event.type === EVENT_ID.ALIAS || event.tagStart < 0) return;
		const name = this.#source.slice(event.tagStart, event.tagEnd);
		this.report("yaml-tag", event.tagStart, `The tag \`${name}\` is not allowed.`);
	}
	#node(isKey = false) {
		const event = this.#events[this.#next++];
		if (event?.type === EVENT_ID.SCALAR) return this.#scalar(event, isKey);
		if (event?.type === EVENT_ID.SEQUENCE) return this.#list(event);
		if (event?.type === EVENT_ID.MAPPING) return this.#map(event);
		throw new Error("js-yaml gave an event that begins no node");
	}
	#closes() {
		if (this.#events[this.#next]?.type !== EVENT_ID.POP) return false;
		this.#next++;
		return true;
	}
	#list({ start, style }) {
		this.#end = start;
		const items = [];
		const indent = style === 2 ? Infinity : this.#at(start).column - 1;
		while (!this.#closes()) items.push(this.#value(indent));
		return {
			kind: "list",
			flow: style === 2,
			items,
			...this.#at(start)
		};
	}
	#map({ start, style }) {
		this.#end = start;
		const entries = [];
		const keys = /* @__PURE__ */ new Set();
		while (!this.#closes()) {
			const key = this.#node(true);
			const indent = style === 2 ? Infinity : key.column - 1;
			const value = this.#value(indent);
			this.#keys++;
			if (this.#keys === yamlLimits.keys + 1) this.report("yaml-too-many-keys", start, `The YAML has more than ${yamlLimits.keys} keys.`);
			if (this.#isUsable(key, keys)) entries.push({
				key,
				value
			});
		}
		const flow = style === 2;
		const { line, column } = (flow ? void 0 : entries[0]?.key) ?? this.#at(start);
		return {
			kind: "map",
			flow,
			entries,
			line,
			column
		};
	}
	#isUsable(key, keys) {
		const report = (code, message) => {
			this.#diagnostics.push(finding(code, this.#options.path, key, message));
		};
		if (key.kind !== "scalar") {
			report("yaml-key-form", "A key must be one scalar.");
			return false;
		}
		if (reservedKeys.has(key.text)) report("yaml-reserved-key", `The key \`${key.text}\` is not allowed.`);
		if (keys.has(key.text)) report("yaml-duplicate-key", `The key \`${key.text}\` is given twice.`);
		keys.add(key.text);
		return true;
	}
	/**
	* Reads a value or an item, with the comments around it if it is plain.
	* @param indent indentation of the key or the dash; deeper lines look like a part of the value
	*/
	#value(indent) {
		const indicatorEnd = this.#behind(indicator, this.#behind(betweenNodes));
		const node = this.#node();
		if (node.kind !== "scalar" || node.style !== "plain") return node;
		const comments = [];
		const take = (from, mayBeginBelow) => {
			let end = from;
			for (const isBelow of [false, true]) {
				const pattern = isBelow ? commentBelow : commentBehind;
				if (isBelow && end === from && !mayBeginBelow) break;
				for (;;) {
					pattern.lastIndex = end;
					const [match = "", indentation = "", text] = pattern.exec(this.#source) ?? [];
					if (text === void 0 || isBelow && indentation.length <= indent) break;
					end += match.length;
					comments.push({
						start: end - text.length,
						text: text.trimEnd()
					});
				}
			}
			return end;
		};
		let end = take(indicatorEnd, false);
		if (node.text !== "") end = take(this.#end, true);
		const [first] = comments;
		if (!first) return node;
		const comment = {
			text: comments.map((comment) => comment.text).join(" "),
			...this.#at(first.start),
			endLine: this.#at(end).line
		};
		return {
			...node,
			comment
		};
	}
	#scalar(event, isKey) {
		const style = styles[event.style];
		const text = getScalarValue(this.#source, event);
		const start = this.#scalarStart(event, isKey);
		if (event.valueStart < 0) this.#end = start;
		else this.#end = event.valueEnd + (style === "single" || style === "double" ? 1 : 0);
		return {
			kind: "scalar",
			text,
			value: style === "plain" ? resolvePlain(text) : text,
			style,
			...this.#at(start)
		};
	}
	/** The offset of the first character of a scalar, its quote or `|` included. */
	#scalarStart({ style, valueStart }, isKey) {
		if (valueStart < 0) return isKey ? this.#behind(absentKey) : this.#absentValue();
		if (styles[style] === "plain") return valueStart;
		if (styles[style] === "single" || styles[style] === "double") return valueStart - 1;
		return this.#behind(blockIndicator);
	}
	/** Returns the place of an absent value or item: after its indicator. */
	#absentValue() {
		const at = this.#behind(betweenNodes);
		const behind = this.#behind(indicator, at);
		return behind > at ? behind : this.#behind(blanks);
	}
	/** Returns the offset after a sticky pattern's match; `from` is the end of the last event. */
	#behind(pattern, from = this.#end) {
		pattern.lastIndex = from;
		return from + (pattern.exec(this.#source)?.[0].length ?? 0);
	}
	#documentStart(explicit) {
		if (!explicit) return this.#behind(documentEnd);
		const marker = /^---/gm;
		marker.lastIndex = this.#end;
		return marker.exec(this.#source)?.index ?? this.#end;
	}
};
const betweenNodes = /(?:[\s,\]}]|#.*)*/y;
/** The indicator of a value or an item, and blanks on its line. */
const indicator = /[:-](?=[\s,[\]{}]|$)[ \t]*/y;
const blanks = /[ \t]*/y;
const commentBehind = /([ \t]*)(#[^\n]*)/y;
const commentBelow = /(?:[ \t\r]*\n)+([ \t]*)(#[^\n]*)/y;
const absentKey = /(?:[\s,?{]|#.*)*/y;
/** Up to the `|` or `>` of a block scalar. */
const blockIndicator = /(?:[^|>#]|#.*)*/y;
const documentEnd = /(?:\s|#.*|\.\.\.)*/y;
/** Resolves a plain scalar by the core schema of YAML 1.2; everything else is a string. */
function resolvePlain(text) {
	if (/^(?:~|null|Null|NULL)?$/.test(text)) return null;
	if (/^(?:true|True|TRUE)$/.test(text)) return true;
	if (/^(?:false|False|FALSE)$/.test(text)) return false;
	if (/^0o[0-7]+$|^0x[0-9a-fA-F]+$/.test(text)) return Number(text);
	if (/^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/.test(text)) return Number(text);
	if (/^[-+]?\.(?:inf|Inf|INF)$/.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
	return /^\.(?:nan|NaN|NAN)$/.test(text) ? NaN : text;
}
function valuesOf({ entries }) {
	return new Map(entries.map(({ key, value }) => [key.text, value]));
}
/** A tree as JSON, with the values of scalars or their texts. Objects have no prototype. */
function yamlToJson(node, scalar = "value") {
	if (node.kind === "scalar") return node[scalar];
	if (node.kind === "list") return node.items.map((item) => yamlToJson(item, scalar));
	const object = Object.create(null);
	for (const { key, value } of node.entries) object[key.text] = yamlToJson(value, scalar);
	return object;
}
// src/skill/declarations.ts
init_errors();
init_text();
const defaultChainPolicy = {
	async: false,
	continueOnError: true,
	timeout: 0,
	maxDepth: 10,
	parallelLimit: 5,
	validateOnLoad: true,
	cleanupAfter: false,
	earlyExitOn: "none",
	continueOnSuccess: false,
	passState: true,
	retryCount: 1,
	retryUntil: "none",
	raceMode: false
};
/** Returns the key of a policy field in a `SKILL.md`: `continue_on_error` for `continueOnError`. */
function policyKey(field) {
	return field.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_").toLowerCase();
}
/** Keys that have a meaning only next to a chain; elsewhere they are the author's metadata. */
const besideChain = /* @__PURE__ */ new Set([
	...Object.keys(defaultChainPolicy).map(policyKey),
	"gates",
	"guards",
	"require_verified"
]);
function reportUnknown(reader, key) {
	const name = key.text;
	const suggestion = metadataFields.has(name) ? "" : didYouMean(name, topFields.keys());
	const message = `\`${name}\` is not a known field.`;
	const hint = besideChain.has(name) ? "Indent it, with its chain, below `metadata:`." : suggestion || "Move it below `metadata:`.";
	reader.report("unknown-field", key, message, hint);
}
/**
* Reads a chain. An invalid policy value becomes its default, and an invalid step stays in the
* chain.
*/
function readChain(reader, metadata) {
	const entry = metadata.entries.find(({ key }) => key.text === "chain");
	const steps = entry && readSteps(reader, entry.value);
	if (!entry || !steps) return void 0;
	if (steps.length === 0) reader.report("chain-empty", entry.value, "`chain` does not name a skill.", "Name skills in their order, or remove `chain`.");
	checkKeys(reader, metadata);
	const nodes = valuesOf(metadata);
	const policy = readPolicy(reader, nodes);
	const names = /* @__PURE__ */ new Set([...steps.map(({ name }) => name), ...stepNames(steps)]);
	const gates = readGates(reader, nodes.get("gates"), names);
	checkReworks(reader, entry.value, steps, gates);
	const requireVerified = reader.boolean("require_verified", nodes.get("require_verified"));
	return {
		steps,
		policy,
		gates,
		...readGuards(reader, nodes.get("guards")),
		...requireVerified === true ? { requireVerified } : {},
		line: entry.key.line
	};
}
const retrying = "`retry_count`, or `retry=N` after a step";
const approving = "`gates`, or `gate` after a step";
const ordering = "the order of the steps";
/** Names that other engines use for keys and options of a chain. */
const otherNames = {
	approval: approving,
	human_gate: approving,
	parallel: "`async`, or `&` between steps",
	retries: retrying,
	retry: retrying,
	max_retries: retrying,
	on_error: "`continue_on_error`, or `allow-failure` after a step",
	step_timeout: "`timeout`, or `timeout=S` after a step",
	depends_on: ordering,
	needs: ordering,
	if: "`when=STEP.STATE` after a step"
};
const commonMetadata = new Set("author authors category created date description homepage keywords language license maintainer maintainers repository short-description source status tags title updated url version".split(" "));
function checkKeys(reader, metadata) {
	for (const { key } of metadata.entries) {
		const name = policyKey(key.text);
		if (Object.hasOwn(otherNames, name)) {
			const message = `\`${key.text}\` is not a key of a chain.`;
			reader.report("chain-control-key", key, message, `Say it with ${otherNames[name]}.`);
		} else if (!metadataFields.has(key.text) && !commonMetadata.has(key.text.toLowerCase())) {
			const message = `\`${key.text}\` is not a policy of a chain and has no effect.`;
			reader.report("chain-unknown-key", key, message, didYouMean(name, besideChain));
		}
	}
}
function readPolicy(reader, nodes) {
	const policy = Object.keys(defaultChainPolicy).flatMap((field) => {
		const key = policyKey(field);
		const { kind, minimum = 0, choices = [] } = metadataFields.get(key) ?? {};
		const node = nodes.get(key);
		let value;
		if (kind === "boolean") value = reader.boolean(key, node);
		else if (kind === "integer") value = reader.integer(key, node, minimum);
		else value = reader.choice(key, node, choices);
		return value === void 0 ? [] : [[field, value]];
	});
	return Object.assign({ ...defaultChainPolicy }, Object.fromEntries(policy));
}
function readGates(reader, node, steps) {
	const words = reader.words("gates", node) ?? [];
	for (const { text, node: at } of words) {
		if (steps.has(text)) continue;
		const message = `\`gates\` names \`${text}\`, which is not a step of this chain.`;
		reader.report("chain-gate-unknown", at, message, didYouMean(text, steps));
	}
	return words.map(({ text }) => text);
}
/** A misspelled value restricts too: a user who accepts the chain sees what it guards. */
function readGuards(reader, node) {
	if (!node || isNull(node)) return {};
	reader.choice("guards", node, metadataFields.get("guards")?.choices ?? []);
	return { guardsAlways: true };
}
/** `1.10` and `010` are numbers to YAML, and their JSON is `1.1` and `10`. */
function reportChangedNumbers(reader, node) {
	if (node.kind === "map") for (const { value } of node.entries) reportChangedNumbers(reader, value);
	else if (node.kind === "list") for (const item of node.items) reportChangedNumbers(reader, item);
	else if (typeof node.value === "number" && String(node.value) !== node.text) {
		const message = `\`${node.text}\` in \`hooks\` is read as the number \`${node.value}\`.`;
		reader.report("text-unquoted", node, message, `Quote it if it is text: \`"${node.text}"\`.`);
	}
}
/**
* Reads hooks from a map, or from the same map as JSON text. The code that uses the map checks its
* contents.
*/
function readHooks(reader, node) {
	if (!node || isNull(node)) return void 0;
	if (node.kind === "map") {
		reportChangedNumbers(reader, node);
		return yamlToJson(node);
	}
	if (node.kind === "list") return reader.report("field-type", node, "`hooks` is a list, and a map by event is required.");
	let problem = "it has another type";
	try {
		const value = JSON.parse(node.text);
		if (isObject(value)) return value;
	} catch (error) {
		problem = messageOf(error);
	}
	const message = `\`hooks\` is ${describe(node)} that is not a JSON object: ${problem}.`;
	return reader.report("field-type", node, message);
}
/** The options of an agent's step that only an agent client enforces. */
const toolList = {
	accepts: (value) => parseAllowedTools(value).length > 0 && isBalanced(value),
	sentence: "lists tools such as `Read Bash(git push:*) mcp__github__merge_*`"
};
/**
* The options of a step: the form of each value, or that the option has no value. They are stored
* in this order, whatever an author writes, because digests use a step's JSON text.
*/
const stepOptions = /* @__PURE__ */ new Map([
	["id", {
		accepts: matches(/^[\p{L}\p{N}_][\p{L}\p{N}._-]*$/u),
		sentence: "is letters, digits, `.`, `-`, `_`"
	}],
	["retry", {
		accepts: matches(/^(?:[1-9]\d{0,2}|1000)$/),
		sentence: "is a number of attempts from 1 to 1000"
	}],
	["backoff", {
		accepts: matches(/^\d{1,6}(?:\.\d{1,3})?$/),
		sentence: "is a number of seconds"
	}],
	["timeout", {
		accepts: matches(/^(?=[\d.]*[1-9])\d{1,6}(?:\.\d{1,3})?$/),
		sentence: "is a number of seconds above 0"
	}],
	["gate", {
		valueIsOptional: true,
		accepts: matches(/^(?:attended|signed)$/),
		sentence: "takes no value, or is `attended` or `signed`"
	}],
	["when", {
		accepts: matches(/^!?[^\s!].*\.(?:success|failure|skipped)$/),
		sentence: "is STEP.STATE or !STEP.STATE, with the state success, failure or skipped"
	}],
	["allow-failure", { sentence: "takes no value" }],
	["always", { sentence: "takes no value" }],
	["args", {
		accepts: () => true,
		sentence: "is the arguments of the step"
	}],
	["check", {
		accepts: matches(/\S/),
		sentence: "is a shell command"
	}],
	["max-blocks", {
		accepts: matches(/^(?:\d{1,2}|100)$/),
		sentence: "is a number of failed checks from 0 to 100"
	}],
	["tools", toolList],
	["guard", toolList],
	["rework", {
		accepts: matches(/^\S+$/),
		sentence: "is the name of a step of an earlier line"
	}]
]);
/**
* Reads the steps of a chain: names in a text (the chaining proposal), or one step or group per
* line of a literal block or a list, with options. An invalid step stays, so that no shorter chain
* runs.
*/
function readSteps(reader, node) {
	if (node.kind === "scalar" && node.style !== "literal") return (reader.words("chain", node) ?? []).map(({ text }) => checkedStep(reader, node, {
		name: text,
		line: node.line
	}));
	if (node.kind === "map") return reader.report("field-type", node, "`chain` is a map, and a list of steps is required.");
	const lines = node.kind === "list" ? node.items : node.text.split("\n").map((text, at) => ({
		...node,
		text,
		line: node.line + 1 + at
	}));
	const steps = lines.flatMap((line, at) => {
		const stepsOfLine = line.kind === "scalar" ? readLine(reader, line) : readStepEntry(reader, line);
		if (stepsOfLine.length === 0 && node.kind === "list" && line.kind === "scalar") reader.report("chain-step-form", line, "An entry of `chain` is empty.");
		const group = stepsOfLine.length > 1 ? { group: at + 1 } : {};
		return stepsOfLine.map((step) => checkedStep(reader, line, {
			...step,
			...group
		}));
	});
	checkNames(reader, node, steps);
	return steps.length === 0 && node.kind === "list" && lines.length > 0 ? void 0 : steps;
}
/** Returns the name of each step in its chain: its `id`, or the last part of its skill's path. */
function stepNames(steps) {
	const counts = /* @__PURE__ */ new Map();
	return steps.map(({ name, id }) => {
		const label = id ?? name.slice(name.lastIndexOf("/") + 1);
		let count = (counts.get(label) ?? 0) + 1;
		while (count > 1 && counts.has(`${label}#${count}`)) count++;
		counts.set(label, count);
		if (count === 1) return label;
		counts.set(`${label}#${count}`, 1);
		return `${label}#${count}`;
	});
}
function checkedStep(reader, node, step) {
	const { name, retry, backoff } = step;
	const names = name.split("/");
	const at = {
		...node,
		line: step.line
	};
	if (!staysInside(name) || names.some((part) => part === "" || part === ".")) {
		const message = `The chain names \`${name}\`, which is not beside or below this skill.`;
		reader.report("chain-step-name", at, message, "Write `test-unit`, or `e2e/smoke`.");
	}
	if (backoff !== void 0 && retry === void 0) {
		const message = `\`${name}\` has \`backoff\` without \`retry\`.`;
		reader.report("chain-step-form", at, message);
	}
	for (const problem of toolProblems(step)) reader.report(problem.code, at, `\`${name}\`: ${problem.message}`, problem.hint);
	return step;
}
function matches(form) {
	return (value) => form.test(value);
}
const word = /\s*(?:(?<=^|\s)#.*|(&)|((?:[^\s&"]|"(?:[^"\\]|\\.)*")+))/y;
function readLine(reader, node) {
	const members = [[]];
	const text = node.text.trimEnd();
	word.lastIndex = 0;
	while (word.lastIndex < text.length) {
		const match = word.exec(text);
		if (match === null) {
			reader.report("chain-step-form", node, `\`${text.trim()}\` has an open quote.`, "Quote the whole value; write `\\\"` inside.");
			break;
		}
		const [, joint, one] = match;
		if (joint !== void 0) members.push([]);
		else if (one !== void 0) members.at(-1)?.push(one);
	}
	if (members.length === 1 && members[0]?.length === 0) return [];
	return members.map(([name = "", ...words]) => {
		if (name === "" || name.includes("\"") || stepOptions.has(/^(.*?)=/.exec(name)?.[1] ?? "")) reader.report("chain-step-form", node, `\`${text.trim()}\` does not name a skill.`, "Write `unit retry=3`; join parallel steps with `&`.");
		return stepOf(reader, node, name, words.map((one) => {
			const at = one.indexOf("=");
			return at === -1 ? [one, true] : [one.slice(0, at), valueOf(reader, node, one.slice(at + 1))];
		}));
	});
}
function valueOf(reader, node, source) {
	if (!source.includes("\"")) return source;
	const [, inner] = /^"((?:[^"\\]|\\.)*)"$/.exec(source) ?? [];
	if (inner !== void 0) return inner.replaceAll(/\\(["\\])/g, "$1");
	reader.report("chain-step-form", node, `The value \`${source}\` is only partly in quotes.`);
	return source;
}
/** `NAME: { option: value }` in a list. */
function readStepEntry(reader, node) {
	const [entry, second] = node.kind === "map" ? node.entries : [];
	const { key, value } = entry ?? {};
	if (!key || second || value?.kind !== "map") {
		reader.report("chain-step-form", node, "An entry of `chain` is not one step.", "Write `- unit retry=3`, or `- unit: { retry: 3 }`.");
		return [];
	}
	const options = value.entries.flatMap(({ key: name, value }) => {
		if (value.kind !== "scalar") return [[name.text, ""]];
		if (value.value === false) return [];
		return [[name.text, value.value === true ? true : value.text.trim()]];
	});
	return [stepOf(reader, node, key.text, options)];
}
function stepOf(reader, node, name, entries) {
	const options = /* @__PURE__ */ new Map();
	for (const [option, value] of entries) {
		const definition = stepOptions.get(option);
		const say = (message, hint) => reader.report("chain-step-form", node, `\`${name}\`: ${message}`, hint);
		if (!definition) {
			const allowedOptions = `Allowed: ${[...stepOptions.keys()].join(", ")}, and \`&\` between steps.`;
			const hint = didYouMean(option, stepOptions.keys()) || allowedOptions;
			say(`\`${option}\` is not an option of a step.`, hint);
		} else if (options.has(option)) say(`\`${option}\` is given twice.`);
		else if (!acceptsValue(definition, value)) say(`\`${option}\` ${definition.sentence}.`);
		else options.set(option, value);
	}
	const stepOptionValues = [...stepOptions.keys()].flatMap((option) => {
		const value = options.get(option);
		if (value === void 0) return [];
		return [[option.replaceAll(/-(.)/g, (_, letter) => letter.toUpperCase()), numericOptions.has(option) ? Number(value) : value]];
	});
	return Object.assign({
		name,
		line: node.line
	}, Object.fromEntries(stepOptionValues));
}
const numericOptions = /* @__PURE__ */ new Set([
	"retry",
	"backoff",
	"timeout",
	"max-blocks"
]);
function acceptsValue({ accepts, valueIsOptional }, value) {
	if (value === true) return accepts === void 0 || valueIsOptional === true;
	return accepts?.(value) === true;
}
/** Checks `rework`: it needs a gate, and names a step on an earlier line of the same chain. */
function checkReworks(reader, node, steps, gates) {
	const names = stepNames(steps);
	for (const [index, step] of steps.entries()) {
		const { name, gate, rework, line } = step;
		if (rework === void 0) continue;
		const at = {
			...node,
			line
		};
		const label = names[index] ?? name;
		const say = (problem, hint) => reader.report("chain-rework", at, `\`${label}\`: ${problem}`, hint);
		if (!gate && !gates.includes(name) && !gates.includes(label)) say("`rework` needs a gate that a user can reject.", "Add `gate`, or remove `rework`.");
		const earlierSteps = earlierNames(steps, names, index);
		if (earlierSteps.includes(rework)) continue;
		const [chain = ""] = rework.split("/");
		const hint = rework !== chain && earlierSteps.includes(chain) ? `A rejection leads back to a step of this chain: \`rework=${chain}\`.` : didYouMean(rework, earlierSteps);
		say(`\`rework\` names \`${rework}\`, which is not a step of an earlier line.`, hint);
	}
}
/** Returns the names of the steps on earlier lines. */
function earlierNames(steps, names, index) {
	const group = steps[index]?.group;
	const first = group === void 0 ? index : steps.findIndex((one) => one.group === group);
	return names.slice(0, first);
}
/** Checks that conditions name steps of earlier lines, and that no `id` is another step's name. */
function checkNames(reader, node, steps) {
	const names = stepNames(steps);
	for (const [index, { when, id, line }] of steps.entries()) {
		const at = {
			...node,
			line
		};
		if (id !== void 0 && names[index] !== id) reader.report("chain-step-form", at, `Two steps have the name \`${id}\`.`);
		if (when === void 0) continue;
		const stepName = conditionOf(when).step;
		const earlierSteps = earlierNames(steps, names, index);
		if (earlierSteps.includes(stepName)) continue;
		const message = `\`when\` names \`${stepName}\`, which is not a step of an earlier line.`;
		reader.report("chain-when-unknown", at, message, didYouMean(stepName, earlierSteps));
	}
}
function conditionOf(when) {
	const not = when.startsWith("!");
	const end = when.lastIndexOf(".");
	return {
		step: when.slice(not ? 1 : 0, end),
		state: when.slice(end + 1),
		not
	};
}
// src/skill/trigger-declarations.ts
init_text();
/** Reads triggers from a list of maps, or from lines of `PATTERN => FILE`. */
function readTriggers(reader, node) {
	if (!node || isNull(node)) return [];
	if (node.kind === "scalar") return readLines(reader, node);
	if (node.kind === "list") return node.items.flatMap((item) => readEntry(reader, item) ?? []);
	reader.report("field-type", node, "`triggers` is a map, and a list is required.");
	return [];
}
const triggerKinds = [
	"match",
	"examples",
	"paths",
	"command",
	"tool"
];
const triggerKeys = [
	...triggerKinds,
	"inject",
	"on",
	"require",
	"not"
];
/** The kinds of triggers that an option belongs to. */
const kindsWith = /* @__PURE__ */ new Map([
	["on", ["paths"]],
	["not", ["examples"]],
	["require", [
		"paths",
		"command",
		"tool"
	]]
]);
function readEntry(reader, item) {
	if (item.kind !== "map") return reader.report("trigger-form", item, `A trigger is ${describe(item)}, not a map.`, "Write `- match: PATTERN` and below it `inject: FILE`.");
	const values = valuesOf(item);
	for (const { key } of item.entries) {
		if (triggerKeys.some((triggerKey) => triggerKey === key.text)) continue;
		const message = `A trigger has no key \`${key.text}\`.`;
		reader.report("trigger-unknown-key", key, message, didYouMean(key.text, triggerKeys));
	}
	for (const { key } of item.entries) {
		const kinds = kindsWith.get(key.text);
		if (!kinds || kinds.some((kind) => values.has(kind))) continue;
		const message = `\`${key.text}\` has no effect in this trigger.`;
		const hint = `It belongs to a trigger with \`${kinds.join("` or `")}\`.`;
		reader.report("trigger-unknown-key", key, message, hint);
	}
	const [kind = "match", ...more] = triggerKinds.filter((name) => values.has(name));
	if (more.length > 0) {
		const message = `A trigger has \`${[kind, ...more].join("`, `")}\`; one of them is allowed.`;
		return reader.report("trigger-form", item, message);
	}
	const inject = readPart(reader, item, values, "inject");
	const declaration = readOccasion(reader, item, values, kind, {
		inject: inject ?? "",
		line: item.line
	});
	return inject === void 0 || !declaration ? void 0 : checkPath(reader, item, declaration);
}
function readOccasion(reader, item, values, kind, at) {
	const node = values.get(kind);
	const require = reader.boolean("require", values.get("require"));
	const on = reader.choice("on", values.get("on"), ["edit", "read"]);
	const not = textsOf(reader, "not", values.get("not"));
	if (kind === "examples" || kind === "paths") {
		const texts = textsOf(reader, kind, node);
		if (texts.length > 0) return triggerOf(kind, texts, at, {
			on,
			require,
			not
		});
		return reader.report("trigger-form", node ?? item, `The \`${kind}\` of a trigger is empty.`);
	}
	const pattern = readPart(reader, item, values, kind);
	return pattern === void 0 ? void 0 : triggerOf(kind, [pattern], at, { require });
}
function textsOf(reader, name, node) {
	return (node?.kind === "list" ? node.items : node && !isNull(node) ? [node] : []).flatMap((one) => reader.text(name, one) ?? []);
}
function triggerOf(kind, texts, at, { on = "edit", require, not = [] }) {
	const [pattern = ""] = texts;
	if (kind === "match") return {
		match: pattern,
		...at
	};
	if (kind === "examples") {
		const match = `examples: ${[texts.join(" | "), ...not.length > 0 ? [not.join(" | ")] : []].join(" !not ")}`;
		const when = {
			kind,
			examples: texts,
			...not.length > 0 ? { not } : {}
		};
		return {
			match,
			...at,
			when
		};
	}
	if (kind === "command" || kind === "tool") {
		const when = {
			kind,
			pattern,
			require: require ?? true
		};
		return {
			match: `${kind}: ${pattern}`,
			...at,
			when
		};
	}
	const when = {
		kind,
		paths: texts,
		on,
		require: require ?? false
	};
	return {
		match: `paths[${on}]: ${texts.join(", ")}`,
		...at,
		when
	};
}
function readPart(reader, item, values, name) {
	const value = values.get(name);
	if (!value) return reader.report("trigger-form", item, `A trigger has no \`${name}\`.`);
	if (value.kind !== "scalar") return reader.text(name, value);
	if (value.text !== "") return value.text;
	return reader.report("trigger-form", value, `The \`${name}\` of a trigger is empty.`);
}
function readLines(reader, node) {
	const isLiteral = node.style === "literal";
	return node.text.split("\n").flatMap((text, index) => {
		if (text.trim() === "") return [];
		const line = isLiteral ? node.line + 1 + index : node.line;
		const at = {
			...node,
			line
		};
		const trigger = readTriggerLine(text, line);
		if (trigger) return checkPath(reader, at, trigger) ?? [];
		reader.report("trigger-form", at, `\`${text.trim()}\` is not a trigger.`, "Write `PATTERN => FILE`, one trigger a line.");
		return [];
	});
}
/** Reads `PATTERN => FILE` and the string forms of the other kinds; undefined for anything else. */
function readTriggerLine(text, line) {
	const separator = text.lastIndexOf(" => ");
	const match = text.slice(0, Math.max(separator, 0)).trim();
	const [, inject = "", requireOption] = /^(.*?)( !require)?$/.exec(text.slice(separator + 4).trim()) ?? [];
	if (separator < 0 || match === "" || inject === "") return void 0;
	const [, kind, on, body = ""] = /^(examples|command|tool|paths(?:\[(edit|read)\])?):(.+)$/.exec(match) ?? [];
	const require = requireOption === void 0 ? void 0 : true;
	const at = {
		inject,
		line
	};
	if (kind === void 0) return triggerOf("match", [match], at, {});
	if (kind === "examples") {
		const [positive = "", ...negative] = body.split(" !not ");
		return triggerOf(kind, listOf(positive, "|"), at, { not: listOf(negative.join("|"), "|") });
	}
	if (kind === "command" || kind === "tool") return triggerOf(kind, [body.trim()], at, { require });
	return triggerOf("paths", body.replaceAll(/\{[^{}]*\}/g, (group) => group.replaceAll(",", "\0")).split(",").flatMap((path) => path.trim().replaceAll("\0", ",") || []), at, {
		on: on === "read" ? on : "edit",
		require
	});
}
function listOf(text, separator) {
	return text.split(separator).flatMap((part) => part.trim() || []);
}
function checkPath(reader, at, trigger) {
	if (staysInside(trigger.inject)) return trigger;
	const message = `A trigger injects \`${trigger.inject}\`, which is not a relative path inside the skill.`;
	return reader.report("path-outside", at, message);
}
// src/skill/fields.ts
/**
* Reads every field that Skillrail acts on. Types and forms are checked here, for every purpose;
* `validate` adds the rules of the written specification (lengths, names, unknown fields).
*
* An extension at the top level takes precedence over the same extension below `metadata`. An
* unusable field is an error here, and undefined or its default in the result.
*/
function readFields(root, options) {
	const diagnostics = [];
	const reader = new FieldReader(options.path, diagnostics);
	const top = new Map(root.entries.map((entry) => [entry.key.text, entry]));
	const metadata = readMetadata(reader, top.get("metadata")?.value);
	const extensions = placeExtensions(reader, top, metadata);
	const topLevelText = (name) => reader.text(name, top.get(name)?.value);
	const text = (name) => reader.text(name, extensions.get(name));
	const flag = (name) => reader.boolean(name, extensions.get(name));
	return {
		fields: {
			name: topLevelText("name"),
			description: topLevelText("description"),
			whenToUse: topLevelText("when_to_use"),
			license: topLevelText("license"),
			compatibility: topLevelText("compatibility"),
			metadata: scalarTexts(metadata),
			allowedTools: readAllowedTools(reader, top.get("allowed-tools")?.value),
			triggers: readTriggers(reader, extensions.get("triggers")),
			chain: metadata ? readChain(reader, metadata) : void 0,
			run: reader.path("run", extensions.get("run")),
			sandbox: flag("sandbox") || void 0,
			model: text("model"),
			context: reader.choice("context", extensions.get("context"), ["fork"]),
			agent: text("agent"),
			disableModelInvocation: flag("disable-model-invocation") ?? false,
			userInvocable: flag("user-invocable") ?? true,
			argumentHint: readHint(reader, extensions.get("argument-hint")),
			arguments: readArguments(reader, extensions.get("arguments")),
			hooks: readHooks(reader, extensions.get("hooks"))
		},
		diagnostics
	};
}
function readMetadata(reader, node) {
	if (!node || isNull(node)) return void 0;
	if (node.kind === "map") return node;
	const message = `\`metadata\` is ${describe(node)}, and a map is required.`;
	return reader.report("field-type", node, message);
}
function placeExtensions(reader, top, metadata) {
	const nodesByName = /* @__PURE__ */ new Map();
	for (const { key, value } of metadata?.entries ?? []) if (metadataFields.get(key.text)?.placement === "either") nodesByName.set(key.text, value);
	for (const [name, { key, value }] of top) {
		if (name === "chain") reader.report("field-placement", key, "`chain` at the top level has no effect.", "Indent it, with its policy, below `metadata:`.");
		if (topFields.get(name)?.placement !== "either") continue;
		if (nodesByName.has(name)) {
			const message = `\`${name}\` is set here and below \`metadata\`; this value counts.`;
			reader.report("field-twice", key, message);
		}
		nodesByName.set(name, value);
	}
	return nodesByName;
}
function scalarTexts(metadata) {
	const texts = Object.create(null);
	for (const { key, value } of metadata?.entries ?? []) if (value.kind === "scalar") texts[key.text] = value.text;
	return texts;
}
function readAllowedTools(reader, node) {
	if (!node || isNull(node)) return void 0;
	if (node.kind === "map" || node.kind === "list" && node.items.some(isNotScalar)) return reader.report("field-type", node, "`allowed-tools` is not a list of tools.");
	if (isBalanced(node)) return parseAllowedTools(node);
	return reader.report("allowed-tools-unbalanced", node, "A parenthesis in `allowed-tools` is not closed.");
}
function isNotScalar(node) {
	return node.kind !== "scalar";
}
/** `argument-hint: [file]` is a list in YAML, but its author means the text. */
function readHint(reader, node) {
	if (node?.kind !== "list" || !node.flow || node.items.some(isNotScalar)) return reader.text("argument-hint", node);
	const text = `[${node.items.map((item) => item.kind === "scalar" ? item.text : "").join(", ")}]`;
	reader.report("argument-hint-list", node, "`argument-hint` in brackets is a list to YAML; it is read as text.", `Quote it: \`argument-hint: "${text}"\`.`);
	return text;
}
function readArguments(reader, node) {
	const names = /* @__PURE__ */ new Set();
	for (const { text, node: at } of reader.words("arguments", node) ?? []) if (!argumentNamePattern.test(text) || text === "ARGUMENTS") {
		const message = `\`${text}\` is not a name for an argument.`;
		reader.report("argument-name", at, message, "Use at most 64 letters, digits, `_` and `-`, no digit first.");
	} else if (names.has(text)) reader.report("argument-name", at, `The argument \`${text}\` is named twice.`);
	else names.add(text);
	return [...names];
}
// src/skill/serialize.ts
const control = /[\p{Cc}\u2028\u2029\ufeff\ufffe\uffff]/u;
function jsonScalar(value) {
	return JSON.stringify(value).replace(new RegExp(control, "gu"), (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
// src/skill/authored-yaml.ts
init_rules();
/** Reading again costs time. */
const maxTries = 100;
/**
* Reads handwritten YAML as agent clients do: a value that YAML cannot read, such as `description:
* Use when: asked`, is read as text, with a warning. If the source is still invalid, returns the
* result of {@link readYaml}.
*/
function readAuthoredYaml(source, options) {
	const strict = readYaml(source, options);
	let reading = strict;
	let lines = source.split("\n");
	const quotedValues = [];
	while (!reading.root && quotedValues.length < maxTries) {
		const [problem] = reading.diagnostics;
		const at = problem && unreadableAt(lines, problem, options);
		if (!at || quotedValues.some(({ start }) => start === at.start)) break;
		lines = lines.toSpliced(at.start, at.end - at.start, ...at.replacement);
		quotedValues.push({
			start: at.start,
			end: at.end,
			diagnostic: problemOf(at, options)
		});
		reading = readYaml(lines.join("\n"), options);
	}
	if (!reading.root || quotedValues.length === 0) return {
		...strict,
		lines: source.split("\n"),
		quoted: []
	};
	const diagnostics = quotedValues.map(({ diagnostic }) => diagnostic);
	return {
		root: reading.root,
		diagnostics,
		lines,
		quoted: quotedValues
	};
}
function problemOf({ start, column, subject, text }, { firstLine, path }) {
	const message = `${subject} is not valid YAML; it is read as the text \`${text}\`.`;
	return finding("yaml-unquoted", path, {
		line: firstLine + start,
		column
	}, message, "Quote it, as pi does not load such a skill (Claude Code does): `skillrail validate --fix` does so.");
}
/**
* Indentation with the dashes of list items, a key if there is one, and the first line of a value.
*/
function entryOf(line) {
	const [prefix = ""] = /^ *(?:- +)*/.exec(line) ?? [];
	const text = line.slice(prefix.length);
	const [key = ""] = keyPattern.exec(text) ?? [];
	const value = text.slice(key.length);
	return /^\S/.test(value) ? {
		prefix,
		key,
		value
	} : void 0;
}
const keyPattern = /^(?:"[^"\\]*"|'[^']*'|[\p{L}\p{N}_][\p{L}\p{N}_.$/-]*)[ \t]*:[ \t]+/u;
/** Finds the value at an error, or the value that the line of the error continues. */
function unreadableAt(lines, { code, line = 0 }, options) {
	if (code !== "yaml-syntax" && code !== "yaml-anchor") return;
	const place = Math.min(line - options.firstLine, lines.length - 1);
	for (let start = place; start >= 0; start--) {
		const entry = entryOf(lines[start] ?? "");
		if (!entry || entry.key === "" && !entry.prefix.includes("-")) continue;
		const { prefix, key, value } = entry;
		const parent = key === "" ? prefix.lastIndexOf("-") : prefix.length;
		const end = endOfValue(lines, start, parent);
		if (end <= place) return void 0;
		const column = prefix.length + key.length;
		const text = [value, ...lines.slice(start + 1, end)].map((part) => part.trim()).join(" ");
		if (!(value.startsWith("*") || code === "yaml-syntax" && !isReadable(lines.slice(start, end))) || !isText(value)) continue;
		const subject = key === "" ? "The list item" : `The value of \`${key.trim().slice(0, -1).trim()}\``;
		const replacement = quotedLines(lines.slice(start, end), column);
		return {
			start,
			end,
			subject,
			column: column + 1,
			text,
			replacement
		};
	}
}
/** Finds the end of a value: lines that are indented deeper than its key or dash belong to it. */
function endOfValue(lines, start, parent) {
	let end = start + 1;
	for (let index = start + 1; index < lines.length; index++) {
		const line = lines[index] ?? "";
		if (line.trim() === "") continue;
		if (line.length - line.trimStart().length <= parent) break;
		end = index + 1;
	}
	return end;
}
function isReadable(lines) {
	return readYaml(`${lines.join("\n")}\n`, {
		firstLine: 1,
		path: ""
	}).root !== void 0;
}
/**
* Whether a value begins no block, mapping or property, and leaves no quote or bracket open.
*/
function isText(value) {
	if (/^[|>{&!#]/.test(value) || /[\u0000-\u0008\u000b-\u001f\u007f]/.test(value.trimEnd())) return false;
	if (!/^["'[]/.test(value)) return true;
	return /^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\[[^\]]*\])[ \t]*[^\s#]/.test(value);
}
/**
* Puts quotes around a value: double quotes on one line, or single quotes over several lines.
*/
function quotedLines(lines, column) {
	const [first = "", ...furtherLines] = lines;
	const head = first.slice(0, column);
	const value = first.slice(column);
	if (furtherLines.length === 0) {
		const text = value.trimEnd();
		return [head + jsonScalar(text) + value.slice(text.length)];
	}
	const escapedLines = [value, ...furtherLines].map((part) => part.replaceAll("'", "''"));
	const last = escapedLines.at(-1) ?? "";
	const text = last.trimEnd();
	return escapedLines.with(escapedLines.length - 1, `${text}'${last.slice(text.length)}`).map((part, index) => index === 0 ? `${head}'${part}` : part);
}
/**
* Warns of text that YAML reads as a comment: everything after ` #` in a value without quotes.
* @param isFree whether a key's values are not text, so that a comment cuts nothing from them
*/
function commentsInValues(root, path, isFree = () => false) {
	if (root.kind === "list") return root.items.flatMap((item) => commentsInValues(item, path, isFree));
	if (root.kind === "map") return root.entries.flatMap(({ key, value }) => isFree(key.text) ? [] : commentsInValues(value, path, isFree));
	const { comment, text } = root;
	if (!comment || isRemark(root)) return [];
	const remaining = text === "" ? "nothing" : `\`${text}\``;
	return [finding("text-cut", path, comment, `\`${comment.text}\` is a comment in YAML, so it is not part of the value; ${remaining} is left.`, "Quote the value if the text belongs to it (`--fix` does, unless it looks like a comment), or move the comment to a line of its own.")];
}
/**
* Whether a comment cannot be meant as text, as in `true # always`.
*/
function isRemark({ value, comment }) {
	return typeof value === "boolean" && /^#\s/.test(comment?.text ?? "");
}
// src/skill/frontmatter.ts
/**
* Finds the frontmatter: from a line `---` at the top to the next line that is `---`, blanks aside.
* Offsets are UTF-16 units of the text; lines count from 1.
*/
function splitFrontmatter(text) {
	const byteOrderMark = text.charCodeAt(0) === 65279;
	const opening = byteOrderMark ? 1 : 0;
	const start = text.startsWith("---", opening) ? lineAfterDelimiter(text, opening + 3) : void 0;
	if (start === void 0) return {
		found: false,
		byteOrderMark,
		reason: "missing"
	};
	let from = start - 1;
	for (;;) {
		const newline = text.indexOf("\n---", from);
		if (newline === -1) return {
			found: false,
			byteOrderMark,
			reason: "unclosed"
		};
		const bodyStart = lineAfterDelimiter(text, newline + 4);
		if (bodyStart === void 0) {
			from = newline + 4;
			continue;
		}
		const end = newline + 1;
		const source = text.slice(start, end).replaceAll("\r\n", "\n");
		return {
			found: true,
			byteOrderMark,
			/** The lines between the delimiters, each ended by `\n` (CRLF is turned into it). */
			source,
			start,
			end,
			/** The line on which `source` begins. */
			firstLine: 2,
			/** Everything after the line of the closing `---`, unchanged. */
			body: text.slice(bodyStart),
			bodyStart,
			bodyLine: 2 + source.split("\n").length
		};
	}
}
/**
* Returns the offset of the next line if only blanks follow; the end of the text counts as a line.
*/
function lineAfterDelimiter(text, offset) {
	for (let at = offset; at < text.length; at++) {
		const code = text.charCodeAt(at);
		if (code === 10) return at + 1;
		if (code !== 32 && code !== 9 && !(code === 13 && text.charCodeAt(at + 1) === 10)) return;
	}
	return text.length;
}
// src/skill/parse.ts
init_errors();
init_rules();
const longestSkill = 1048576;
/** Reads the frontmatter of a file as a tree, or returns diagnostics. */
function readFrontmatter(content, path) {
	const diagnostics = [];
	const refuse = (code, message, at, hint) => {
		diagnostics.push(finding(code, path, at, message, hint));
		return {
			ok: false,
			diagnostics
		};
	};
	const isText = typeof content === "string";
	const size = isText ? Buffer.byteLength(content) : content.byteLength;
	if (size > longestSkill) return refuse("file-too-large", `The file has ${size} bytes; ${longestSkill} are allowed.`);
	if (!isText && !isUtf8(content)) return refuse("file-not-utf8", "The file is not UTF-8 text.", void 0, "Save it as UTF-8.");
	const nul = isText ? content.indexOf("\0") : content.indexOf(0);
	if (nul !== -1) return refuse("file-nul", `The file has a NUL character at offset ${nul}.`);
	const split = splitFrontmatter(isText ? content : decode(content));
	const start = {
		line: 1,
		column: 1
	};
	if (split.byteOrderMark) diagnostics.push(finding("byte-order-mark", path, start, "The file begins with a byte order mark.", "`skillrail validate --fix` removes it."));
	if (!split.found && split.reason === "missing") return refuse("frontmatter-missing", "The file does not begin with a line `---`.", start, "Begin with `name` and `description` between two lines `---`.");
	if (!split.found) return refuse("frontmatter-unclosed", "The frontmatter that begins on line 1 is not closed.", start, "Add a line `---` after it.");
	const yaml = readAuthoredYaml(split.source, {
		firstLine: split.firstLine,
		path
	});
	diagnostics.push(...yaml.diagnostics);
	if (hasErrors(yaml.diagnostics)) return {
		ok: false,
		diagnostics
	};
	const { root } = yaml;
	if (root) diagnostics.push(...commentsInValues(root, path, takesNoText));
	if (root?.kind === "map") return {
		ok: true,
		root,
		split,
		diagnostics
	};
	const at = {
		line: 2,
		column: 1
	};
	const hint = "It needs at least a line `name: …` and a line `description: …`.";
	if (!root) return refuse("frontmatter-empty", "The frontmatter is empty.", at, hint);
	return refuse("frontmatter-not-mapping", `The frontmatter is ${root.kind === "list" ? "a list" : "a single text"}, not a mapping of fields.`, at, hint);
}
const kindsWithoutText = /* @__PURE__ */ new Set([
	"boolean",
	"integer",
	"choice",
	"chain"
]);
/**
* Whether a comment cuts nothing: a number, a flag or a choice has no text, and `#` begins a
* comment in a chain.
*/
function takesNoText(key) {
	return kindsWithoutText.has(metadataFields.get(key)?.kind ?? "");
}
function decode(bytes) {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
// src/skill/validate.ts
init_errors();
const validateOptions = {
	of: "validateSkill",
	rules: {
		path: required(rule.text),
		directoryName: rule.text,
		files: listOf$1("files", isObject),
		readFile: rule.callback
	},
	earlierNames: { profile: "For the profile `reference` use validateReference." }
};
/**
* Validates one `SKILL.md` against the written specification. Pass the bytes of the file if you
* have them: only they show whether it is UTF-8.
*
* @example
* validateSkill(bytes, { path: 'a/SKILL.md', directoryName: 'a' }).valid
* @throws {UsageError} for an option that is unknown or of a wrong kind.
*/
function validateSkill(content, rawOptions) {
	checkArgument(content, "The content of the skill", rule.content);
	const options = checkOptions(rawOptions, validateOptions);
	const reading = readFrontmatter(content, options.path);
	const spec = reading.ok ? validateSpec(reading.root, reading.split, options) : void 0;
	const diagnostics = [...reading.diagnostics, ...spec?.diagnostics ?? []];
	const isChain = spec?.fields.chain !== void 0;
	return {
		name: spec?.fields.name,
		valid: !hasErrors(diagnostics),
		isChain,
		diagnostics
	};
}
function validateSpec(root, { body, bodyLine }, { path, directoryName, files, readFile }) {
	const { fields, diagnostics } = readFields(root, { path });
	const { name, description } = fields;
	const reader = new FieldReader(path, diagnostics);
	const values = valuesOf(root);
	for (const entry of root.entries) checkField(reader, entry);
	const at = values.get("description");
	if (name !== void 0) checkName(reader, values.get("name"), name, directoryName);
	else reportMissing(reader, "name", values, root, `Add \`name: ${directoryName ?? "my-skill"}\`.`);
	if (description === void 0) reportMissing(reader, "description", values, root, "Add `description:` with what the skill does and when to use it.");
	else checkLength(reader, "description", at, 1024);
	const entryLength = `${description ?? ""}${fields.whenToUse ?? ""}`.length;
	if (fields.whenToUse !== void 0 && entryLength > longestEntry) {
		const message = `\`description\` and \`when_to_use\` have ${entryLength} characters; Claude Code cuts them at ${longestEntry}.`;
		reader.report("catalogue-cut", values.get("when_to_use"), message);
	}
	const compatibility = values.get("compatibility");
	if (compatibility?.kind === "scalar" && isEmpty(compatibility)) reader.report("compatibility-empty", compatibility, "`compatibility` is empty.");
	else checkLength(reader, "compatibility", compatibility, 500);
	checkTools(reader, values.get("allowed-tools"));
	checkMetadata(reader, values.get("metadata"));
	adviseOnSkill(reader, {
		body,
		bodyLine,
		files,
		readFile,
		description: {
			text: description,
			at
		},
		arguments: {
			names: fields.arguments,
			hint: fields.argumentHint
		}
	});
	return {
		fields,
		diagnostics: diagnostics.toSorted(compareDiagnostics)
	};
}
function reportMissing(reader, field, values, root, hint) {
	const node = values.get(field) ?? root;
	if (node !== root && node.kind !== "scalar") return;
	reader.report(`${field}-missing`, node, `The skill has no \`${field}\`.`, hint);
}
function checkField(reader, { key, value }) {
	const name = key.text;
	const field = topFields.get(name);
	if (!field) {
		if (name !== "chain") reportUnknown(reader, key);
	} else if (field.owner === "client") {
		const message = `\`${name}\` is a field of ${field.clients.join(" and ")}; others ignore it.`;
		reader.report("client-field", key, message);
	} else if (!fieldsWithEmptyRule.includes(name) && isEmpty(value)) reportEmpty(reader, name, value);
	else if (textKinds.has(field.kind)) {
		const unquotedNode = (value.kind === "list" ? value.items : [value]).find((node) => node.kind === "scalar" && node.value !== null && typeof node.value !== "string");
		if (!unquotedNode) return;
		const { text } = unquotedNode;
		const message = `\`${text}\` in \`${name}\` is not a string in YAML; it is read as text.`;
		reader.report("text-unquoted", unquotedNode, message, `Quote it: \`"${text}"\`.`);
	}
}
const textKinds = /* @__PURE__ */ new Set([
	"text",
	"path",
	"tools",
	"names"
]);
const fieldsWithEmptyRule = [
	"name",
	"description",
	"compatibility",
	"metadata"
];
function isEmpty(value) {
	return isNull(value) || value.kind === "scalar" && value.text.trim() === "";
}
function reportEmpty(reader, name, value) {
	const message = `\`${name}\` is empty and has no effect.`;
	reader.report("field-empty", value, message);
}
/** The limit applies to the value that YAML returns, with the newline that a block scalar keeps. */
function checkLength(reader, name, node, limit) {
	const text = node?.kind === "scalar" ? node.text : "";
	const length = text.length <= limit ? 0 : Array.from(text).length;
	if (length <= limit) return;
	const message = `\`${name}\` has ${length} characters; ${limit} are allowed.`;
	reader.report(`${name}-too-long`, node, message);
}
function checkTools(reader, node) {
	if (!node || node.kind === "map" || isNull(node)) return;
	if (node.kind === "scalar" && !hasCommas(node.text)) return;
	reader.report("allowed-tools-form", node, `\`allowed-tools\` is ${node.kind === "list" ? "a list" : "separated by commas"}; the specification wants one string with spaces.`, "`skillrail validate --fix` rewrites it.");
}
/**
* Checks that metadata maps strings to strings; extensions have a string form, other values are
* unused.
*/
function checkMetadata(reader, metadata) {
	if (metadata?.kind !== "map") return;
	const hasChain = metadata.entries.some(({ key }) => key.text === "chain");
	const nestedEntries = metadata.entries.filter(({ key, value }) => {
		return (key.text === "chain" || besideChain.has(key.text)) && (value.kind !== "scalar" || typeof value.value !== "string");
	});
	if (hasChain) reportChainForm(reader, nestedEntries);
	for (const { key, value } of metadata.entries) {
		if (hasChain && nestedEntries.some((entry) => entry.key === key)) continue;
		const name = key.text;
		const isKnownExtension = metadataFields.has(name) && (hasChain || !besideChain.has(name));
		if (value.kind !== "scalar") {
			const message = `\`${name}\` below \`metadata\` is ${describe(value)}; the specification wants strings.`;
			reader.report(isKnownExtension ? "metadata-nested-extension" : "metadata-nested", value, message, "Write it as one string.");
		} else if (isKnownExtension && name !== "chain" && isEmpty(value)) reportEmpty(reader, name, value);
		else if (typeof value.value !== "string") {
			const message = `\`${name}\` below \`metadata\` is not a string in YAML; it is read as the text \`${value.text}\`.`;
			const hint = `Quote it: \`${name}: "${value.text}"\`.`;
			reader.report("metadata-not-string", value, message, hint);
		}
	}
}
/**
* The proposal writes chains as lists, with flags and numbers: one warning covers the whole chain.
*/
function reportChainForm(reader, entries) {
	const [first] = entries;
	if (!first) return;
	const message = `The chain is not written as strings (${entries.map(({ key }) => `\`${key.text}\``).join(", ")}); the specification wants strings below \`metadata\`.`;
	const hint = "Skillrail reads it. For other clients, write `chain: a b c` and quote flags and numbers.";
	const code = entries.some(({ value }) => value.kind !== "scalar") ? "metadata-nested-extension" : "metadata-not-string";
	reader.report(code, first.value, message, hint);
}
const longestName = 64;
/** Most characters of an entry in Claude Code's catalogue. */
const longestEntry = 1536;
function checkName(reader, node, name, directoryName) {
	for (const { code, problem, hint } of nameProblems(name, directoryName)) reader.report(code, node, problem, hint);
}
/**
* Letters outside a-z that the reference validator accepts are a warning, other characters an
* error.
*/
function nameProblems(declaredName, directoryName) {
	if (/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(declaredName) && declaredName.length <= longestName && directoryName === declaredName) return [];
	const problems = [];
	const name = declaredName.normalize("NFKC");
	const report = (isWrong, code, problem, hint) => {
		if (isWrong) problems.push({
			code,
			problem,
			hint
		});
	};
	const length = Array.from(name).length;
	const tooLong = `The name has ${length} characters; ${longestName} are allowed.`;
	report(length > longestName, "name-too-long", tooLong);
	const suggestion = name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
	const hint = suggestion === "" || suggestion === name ? void 0 : `Call it \`${suggestion}\`.`;
	report(name !== name.toLowerCase(), "name-uppercase", `The name \`${name}\` has upper-case letters.`, hint);
	const edge = `The name \`${name}\` begins or ends with a hyphen.`;
	report(name.startsWith("-") || name.endsWith("-"), "name-hyphen-edge", edge, hint);
	const double = `The name \`${name}\` has two hyphens in a row.`;
	report(name.includes("--"), "name-hyphen-double", double, hint);
	const otherCharacters = new Set(name.match(/[^\p{L}\p{N}-]/gu));
	const characters = `The name \`${name}\` contains ${[...otherCharacters].map((character) => `\`${character}\``).join(", ")}; a-z, 0-9 and hyphens are allowed.`;
	report(otherCharacters.size > 0, "name-characters", characters, hint);
	const foreign = `The name \`${declaredName}\` has letters outside a-z, which clients may refuse.`;
	report(otherCharacters.size === 0 && (/[^\p{ASCII}]/u.test(name) || name !== declaredName), "name-unicode", foreign);
	report(directoryName !== void 0 && directoryName.normalize("NFKC") !== name, "name-directory-mismatch", `The skill is named \`${name}\`, its directory \`${directoryName}\`.`, "Rename one of them.");
	return problems;
}
// src/skill/quick-validate.ts
init_text();
process.exitCode = main(process.argv.slice(2));
/** Returns 0 if all skills are valid, 1 if one is not, and 2 for wrong usage. */
function main(paths) {
	const missing = paths.find((path) => !existsSync(path));
	if (missing !== void 0 || paths.length === 0) {
		const problem = missing === void 0 ? "" : `${missing} does not exist\n`;
		process.stderr.write(`${problem}Usage: node quick_validate.mjs DIRECTORY…\n`);
		return 2;
	}
	return paths.map((path) => printVerdict(path)).every(Boolean) ? 0 : 1;
}
function printVerdict(path) {
	const print = (line) => process.stdout.write(`${safeLine(`${path}: ${line}`)}\n`);
	const file = skillFile(path);
	if (file === void 0) {
		print("error: it has no SKILL.md");
		return false;
	}
	const directoryName = basename(dirname(resolve(file)));
	const { valid, diagnostics } = validateSkill(readFileSync(file), {
		path: file,
		directoryName
	});
	if (valid) print("valid");
	for (const one of diagnostics) if (one.severity !== "info") print(sentence(one));
	return valid;
}
function sentence({ severity, line, message, hint }) {
	return `${severity}${line === void 0 ? "" : ` in line ${line}`}: ${message}${hint === void 0 ? "" : ` ${hint}`}`;
}
function skillFile(path) {
	return (statSync(path).isDirectory() ? ["SKILL.md", "skill.md"].map((name) => join(path, name)) : [path]).find((file) => existsSync(file) && statSync(file).isFile());
}
export {};
