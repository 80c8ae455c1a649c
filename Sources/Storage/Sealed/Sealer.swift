import Sealing

/// Seals the texts of the columns that can hold secrets, and opens them.
///
/// A text without a secret is stored as it is. Otherwise the column has the text without its secrets, a line feed, the
/// sealed whole text, and a line feed. No other text of these columns ends with a line feed: JSON is written on one line,
/// and a URL has none.
struct Sealer: Sendable {
    let keys: Keyring

    /// - Parameter known: the text without its secrets.
    func seal(_ text: String, known: String, at place: SealedPlace) -> String {
        "\(known)\n\(keys.seal(text, at: place))\n"
    }

    /// The whole text of a column, or what is known of it without the key.
    ///
    /// - Throws: `sealBroken` if the sealed text was changed or moved.
    func open(_ stored: String, at place: @autoclosure () -> SealedPlace) throws -> (text: String, isLost: Bool) {
        guard Self.isSealed(stored) else { return (stored, false) }
        let (known, sealed) = Self.parts(of: stored)
        let place = place()
        switch keys.open(sealed, at: place) {
        case .text(let text): return (text, false)
        case .keyMissing: return (String(known), true)
        case .refused: throw StoreError.sealBroken(place: "\(place)")
        }
    }

    /// The same text, sealed with the current key; nil if it is not sealed, or if its key is lost.
    func reseal(_ stored: String, at place: SealedPlace) throws -> String? {
        guard Self.isSealed(stored) else { return nil }
        let opened = try open(stored, at: place)
        return opened.isLost ? nil : seal(opened.text, known: String(Self.parts(of: stored).known), at: place)
    }

    static func isSealed(_ stored: String) -> Bool { stored.utf8.last == UInt8(ascii: "\n") }

    private static func parts(of stored: String) -> (known: Substring, sealed: Substring) {
        let text = stored.dropLast()
        guard let end = text.utf8.lastIndex(of: UInt8(ascii: "\n")) else { return ("", text) }
        return (text[..<end], text[text.utf8.index(after: end)...])
    }
}
