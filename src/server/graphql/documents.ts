import { type DocumentNode, GraphQLError, parse } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { LRUCache } from 'lru-cache';
import { documentLimits, exceededLimits } from './limits.ts';

/** Of all documents that are kept: each takes some 300 bytes. */
const MAX_KEPT_TOKENS = 200_000;
/** An error in a document looks for its line from the first one on. */
const MAX_LINES = 5_000;

export interface Documents {
  /** A document that was found valid, by its text. */
  find(text: string): DocumentNode | undefined;
  readonly plugin: Plugin;
}

/**
 * Parses and validates documents, and keeps the valid ones that were used last. Those over the limits are refused before
 * they are validated, since validation compares fields pairwise.
 */
export function createDocuments(): Documents {
  const kept = new LRUCache<string, DocumentNode>({
    maxSize: MAX_KEPT_TOKENS,
    // Comments are tokens that are not counted: of two characters, the line's end among them, at least.
    sizeCalculation: ({ tokenCount = 0 }, text) => Math.max(1, tokenCount, Math.ceil(text.length / 2)),
  });
  const valid = new WeakSet<DocumentNode>();
  const plugin: Plugin = {
    onParse({ params: { source }, setParsedDocument, setParseFn }) {
      const known = kept.get(String(source));
      if (known) return setParsedDocument(known);
      setParseFn(parseShallow);
    },
    onValidate({ params: { documentAST }, setResult }) {
      if (valid.has(documentAST)) return setResult([]);
      const errors = exceededLimits(documentAST);
      if (errors.length > 0) return setResult(errors);
      return ({ result }) => {
        const text = documentAST.loc?.source.body;
        if (result.length > 0 || text === undefined) return;
        valid.add(documentAST);
        kept.set(text, documentAST);
      };
    },
  };
  return { find: (text) => kept.get(text), plugin };
}

/** The parser calls itself for each list in a list: the few thousand that the tokens allow may be too many for the stack. */
function parseShallow(source: string, options?: object): DocumentNode {
  if (source.split(/\r\n|[\r\n]/, MAX_LINES + 1).length > MAX_LINES) {
    throw new GraphQLError(`Syntax Error: a document must have at most ${MAX_LINES} lines.`);
  }
  try {
    return parse(source, { ...options, maxTokens: documentLimits.tokens });
  } catch (error) {
    throw error instanceof RangeError ? new GraphQLError('Syntax Error: nested too deeply.') : error;
  }
}
