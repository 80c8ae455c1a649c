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
