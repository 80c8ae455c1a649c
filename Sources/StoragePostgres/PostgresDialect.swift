import Storage

/// Translates statements of the dialect that the engines share into that of PostgreSQL.
///
/// - `?`, `?1` and `:name` become `$1`, `$2`, ...
/// - `INDEXED BY index` is left out, and the `CROSS` of `CROSS JOIN table ON`: these hints are for SQLite's planner.
/// - `COLLATE BINARY` becomes `COLLATE "POSIX"`, which compares bytes as the `"C"` of the columns does. To the planner it is
///   another order, which only those indexes have that name it: a hint for PostgreSQL's planner, and none for SQLite's.
/// - `max(a, b)` and `min(a, b)` become `GREATEST` and `LEAST`. The arguments must not be NULL: SQLite then returns NULL,
///   and PostgreSQL the other argument.
/// - `a IS b` and `a IS NOT b` become `IS NOT DISTINCT FROM` and `IS DISTINCT FROM`.
final class PostgresDialect {
    private var known: [String: Translation] = [:]

    struct Translation: Equatable {
        var sql: String
        /// For `$1`, `$2`, ...: the place or the name of its value.
        var parameters: [Parameter] = []
        /// Whether it is a query, which changes nothing.
        var isQuery: Bool { ["SELECT", "WITH", "VALUES"].contains { sql.hasPrefix($0) } }
    }

    enum Parameter: Equatable {
        /// From 0.
        case position(Int)
        case name(String)
    }

    /// Each text is translated once.
    func translation(of sql: String) -> Translation {
        if let known = known[sql] { return known }
        let translation = Self.translate(sql)
        known[sql] = translation
        return translation
    }

    static func translate(_ sql: String) -> Translation {
        var translation = Translation(sql: "")
        var last = 0
        for token in translated(SQLToken.tokens(of: sql)) {
            switch token {
            case .word(let text), .other(let text), .blank(let text): translation.sql += text
            case .positional(let number):
                // As in SQLite, `?` follows the largest number before it.
                let number = number ?? last + 1
                last = max(last, number)
                translation.refer(to: .position(number - 1))
            case .named(let name): translation.refer(to: .name(name))
            }
        }
        return translation
    }

    private static func translated(_ tokens: [SQLToken]) -> [SQLToken] {
        var result: [SQLToken] = []
        result.reserveCapacity(tokens.count)
        var index = 0
        while index < tokens.count {
            let (replaced, consumed) = replacement(tokens[index...])
            result += replaced
            index += consumed
        }
        return result
    }

    /// The replacement for the first tokens, and how many tokens it replaces.
    private static func replacement(_ tokens: ArraySlice<SQLToken>) -> ([SQLToken], Int) {
        let first = tokens[tokens.startIndex]
        guard case .word(let word) = first else { return ([first], 1) }
        switch word {
        case "INDEXED" where tokens.words(2).last?.isWord("BY") == true:
            return ([], tokens.length(ofWords: 3, alsoBlank: true))
        case "COLLATE" where tokens.words(2).last?.isWord("BINARY") == true:
            return ([.word("COLLATE"), .other(" \"POSIX\"")], tokens.length(ofWords: 2, alsoBlank: false))
        case "CROSS" where joinsOnCondition(tokens): return ([], tokens.length(ofWords: 1, alsoBlank: true))
        case "max" where hasSeveralArguments(tokens.dropFirst()): return ([.word("GREATEST")], 1)
        case "min" where hasSeveralArguments(tokens.dropFirst()): return ([.word("LEAST")], 1)
        case "IS": return distinction(tokens)
        default: return ([first], 1)
        }
    }

    /// Whether the tokens are `CROSS JOIN table ON` or `CROSS JOIN table AS name ON`.
    private static func joinsOnCondition(_ tokens: ArraySlice<SQLToken>) -> Bool {
        let words = tokens.words(6)
        return words.count > 3 && words[1].isWord("JOIN") && words[3...].prefix(3).contains { $0.isWord("ON") }
    }

    /// Whether the tokens are a list in parentheses of two values or more.
    private static func hasSeveralArguments(_ tokens: ArraySlice<SQLToken>) -> Bool {
        guard tokens.first == .other("(") else { return false }
        var depth = 0
        for token in tokens {
            guard case .other(let text) = token else { continue }
            switch text {
            case "(": depth += 1
            case ")": depth -= 1
            case "," where depth == 1: return true
            default: break
            }
            if depth == 0 { return false }
        }
        return false
    }

    private static func distinction(_ tokens: ArraySlice<SQLToken>) -> ([SQLToken], Int) {
        let next = tokens.dropFirst().filter { !$0.isBlank }.prefix(2)
        let isNegated = next.first?.isWord("NOT") == true
        let operand = isNegated ? next.dropFirst().first : next.first
        let isPlain = ["NULL", "DISTINCT", "TRUE", "FALSE", "UNKNOWN"].contains { operand?.isWord($0) == true }
        guard let operand, !isPlain, operand != .other(")") else { return ([tokens[tokens.startIndex]], 1) }
        return (
            [.word(isNegated ? "IS DISTINCT FROM" : "IS NOT DISTINCT FROM")],
            isNegated ? tokens.length(ofWords: 2, alsoBlank: false) : 1
        )
    }
}

extension PostgresDialect.Translation {
    fileprivate mutating func refer(to parameter: PostgresDialect.Parameter) {
        let index = parameters.firstIndex(of: parameter) ?? parameters.count
        if index == parameters.count { parameters.append(parameter) }
        sql += "$\(index + 1)"
    }
}

extension ArraySlice<SQLToken> {
    /// The first tokens that are not blank, if they are words; the last one may be another token.
    fileprivate func words(_ count: Int) -> [SQLToken] {
        var words: [SQLToken] = []
        for token in self where !token.isBlank {
            guard words.count < count, case .word = token else { break }
            words.append(token)
        }
        return words
    }

    /// The number of tokens up to the end of this many words.
    fileprivate func length(ofWords count: Int, alsoBlank: Bool) -> Int {
        var (length, words) = (0, 0)
        for token in self {
            if words == count, !(alsoBlank && token.isBlank) { break }
            if !token.isBlank { words += 1 }
            length += 1
        }
        return length
    }
}

/// A piece of a statement. The text of all tokens together is the statement.
enum SQLToken: Equatable {
    /// A keyword, a name or a number.
    case word(Substring)
    /// `?` or `?1`.
    case positional(Int?)
    /// `:name`, without the colon.
    case named(String)
    /// A string literal, a quoted name, a comment, or any other characters.
    case other(Substring)
    case blank(Substring)

    static func tokens(of sql: String) -> [SQLToken] {
        var rest = sql[...]
        var tokens: [SQLToken] = []
        while !rest.isEmpty { tokens.append(next(&rest)) }
        return tokens
    }

    /// Whether this is the keyword, which is in capital letters.
    func isWord(_ word: String) -> Bool { if case .word(let own) = self { own == word } else { false } }

    var isBlank: Bool { if case .blank = self { true } else { false } }

    private static func next(_ rest: inout Substring) -> SQLToken {
        let first = rest[rest.startIndex]
        switch first {
        case "'", "\"": return .other(take(&rest, length: quotedLength(rest, first)))
        case "?":
            rest.removeFirst()
            let digits = take(&rest, while: \.isNumber)
            return .positional(Int(digits))
        case "-" where rest.hasPrefix("--"): return .other(take(&rest, while: { !$0.isNewline }))
        case ":" where !rest.hasPrefix("::") && rest.dropFirst().first.map(isOfWord) == true:
            rest.removeFirst()
            return .named(String(take(&rest, while: isOfWord)))
        // The type of a cast is no name.
        case ":": return .other(take(&rest, length: rest.hasPrefix("::") ? 2 : 1))
        case _ where isOfWord(first): return .word(take(&rest, while: isOfWord))
        case _ where first.isWhitespace: return .blank(take(&rest, while: \.isWhitespace))
        default: return .other(take(&rest, length: 1))
        }
    }

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_"
    }

    /// With both quotes. A doubled quote is a part of the text, as two adjacent literals.
    private static func quotedLength(_ text: Substring, _ quote: Character) -> Int {
        guard let end = text.dropFirst().firstIndex(of: quote) else { return text.count }
        return text.distance(from: text.startIndex, to: end) + 1
    }

    private static func take(_ rest: inout Substring, while isTaken: (Character) -> Bool) -> Substring {
        let taken = rest.prefix(while: isTaken)
        rest = rest[taken.endIndex...]
        return taken
    }

    private static func take(_ rest: inout Substring, length: Int) -> Substring {
        let taken = rest.prefix(length)
        rest = rest[taken.endIndex...]
        return taken
    }
}
