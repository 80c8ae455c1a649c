import Glibc

/// Text that is safe for a terminal, on one line. Names and messages come from servers, so characters that would move the
/// cursor, change colours or reverse the writing direction are replaced.
struct Printable: CustomStringConvertible, Sendable {
    let description: String

    /// - Parameter isUnicode: false if the terminal shows only ASCII.
    init(_ text: String, isUnicode: Bool = true) {
        guard text.unicodeScalars.contains(where: { !Self.isFit($0, isUnicode) }) else {
            description = text
            return
        }
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { scalars.append(Self.isFit(scalar, isUnicode) ? scalar : "?") }
        description = String(scalars)
    }

    private static func isFit(_ scalar: Unicode.Scalar, _ isUnicode: Bool) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F }
        guard isUnicode else { return false }
        switch scalar.properties.generalCategory {
        // The format characters include the marks that change the writing direction.
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}
