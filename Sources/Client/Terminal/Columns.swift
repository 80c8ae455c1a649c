import Glibc

/// The number of columns that a text takes.
enum Columns {
    static func count(_ text: String) -> Int { text.unicodeScalars.reduce(0) { $0 + width($1) } }

    /// The text in exactly `width` columns: padded with spaces, or cut in the middle, where names differ least.
    static func fitted(_ text: String, to width: Int, filling: Bool = true) -> String {
        let count = count(text)
        if count <= width { return filling ? text + String(repeating: " ", count: width - count) : text }
        guard width > 3 else { return fitted(prefix(text, width), to: width, filling: filling) }
        let tail = (width - 2) / 3
        let cut = prefix(text, width - 2 - tail) + ".." + suffix(text, tail)
        return filling ? fitted(cut, to: width) : cut
    }

    private static func prefix(_ text: String, _ width: Int) -> String {
        var rest = width
        return String(
            text.prefix { character in
                rest -= count(String(character))
                return rest >= 0
            })
    }

    private static func suffix(_ text: String, _ width: Int) -> String {
        String(prefix(String(text.reversed()), width).reversed())
    }

    /// East Asian wide characters take two columns (Unicode, UAX #11).
    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.value {
        case 0..<0x300: return 1
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
            return 2
        default:
            let category = scalar.properties.generalCategory
            return category == .nonspacingMark || category == .enclosingMark ? 0 : 1
        }
    }
}
