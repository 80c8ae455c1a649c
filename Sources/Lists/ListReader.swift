import Formats

/// Reads a list of any length piece by piece. Memory has one line of it at a time.
///
/// The entries arrive in the order of the list. After a fatal fault, nothing more is read.
public struct ListReader {
    /// Bytes of one line without its end.
    public static let longestLine = 64 << 10
    public static let mostLines = 10_000_000

    private var source: any ListSource
    private var hasEnded = false

    /// - Parameter base: what stands before the values of the list (`ListFormat.fault(inBase:)`).
    public init(_ format: ListFormat, base: String? = nil) {
        source =
            switch format {
            case .metalink: MetalinkReader()
            case .ndjson: LineReader(JSONLines())
            case .tsv: LineReader(TabSeparatedLines(base: BaseURL(base)))
            case .urls: LineReader(URLLines(base: BaseURL(base)))
            case .sha256sum: LineReader(DigestLines(base: BaseURL(base)))
            case .ena: LineReader(ENALines(base: BaseURL(base ?? "https://")))
            case .aria2: LineReader(Aria2Lines(base: base))
            }
    }

    public mutating func read(_ piece: [UInt8]) -> [ListEntry] { hasEnded ? [] : checked(source.read(piece)) }

    public mutating func finish() -> [ListEntry] { hasEnded ? [] : checked(source.finish()) }

    private mutating func checked(_ entries: [ListEntry]) -> [ListEntry] {
        hasEnded = entries.last?.isFatal == true
        return entries
    }
}

extension ListEntry {
    fileprivate var isFatal: Bool {
        if case .failure(let fault) = job { fault.isFatal } else { false }
    }
}

/// Makes entries of the bytes of a list.
protocol ListSource {
    mutating func read(_ piece: [UInt8]) -> [ListEntry]
    mutating func finish() -> [ListEntry]
}

/// Makes entries of the lines of a list.
protocol LineFormat {
    /// - Parameter line: without its end, and not empty.
    mutating func read(_ line: String, at number: Int) -> [ListEntry]
    mutating func finish() -> [ListEntry]
}

extension LineFormat {
    mutating func finish() -> [ListEntry] { [] }
}

/// Divides a text into lines, which end in LF or CR LF. Lines without a visible character are left out. A byte order mark at the
/// beginning is ignored.
struct LineReader<Format: LineFormat>: ListSource {
    private var format: Format
    private var line: [UInt8] = []
    private var number = 1
    private var isTooLong = false

    init(_ format: Format) { self.format = format }

    mutating func read(_ piece: [UInt8]) -> [ListEntry] {
        var entries: [ListEntry] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            append(rest[..<end])
            entries += endLine()
            rest = rest[(end + 1)...]
            guard number < ListReader.mostLines || rest.isEmpty else {
                let most = ListReader.mostLines
                return entries + [
                    ListEntry(line: most, ListFault("The list has more than \(most) lines.", isFatal: true))
                ]
            }
            number += 1
            if case .failure(let fault)? = entries.last?.job, fault.isFatal { return entries }
        }
        append(rest)
        return entries
    }

    mutating func finish() -> [ListEntry] { endLine() + format.finish() }

    private mutating func append(_ bytes: ArraySlice<UInt8>) {
        // The end of a line can have a CR, too.
        isTooLong = isTooLong || line.count + bytes.count > ListReader.longestLine + 1
        if isTooLong { line = [] } else { line += bytes }
    }

    private mutating func endLine() -> [ListEntry] {
        defer {
            line.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if isTooLong || line.count > ListReader.longestLine {
            return [ListEntry(line: number, ListFault("The line is longer than \(ListReader.longestLine) bytes."))]
        }
        if number == 1, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        guard line.contains(where: { $0 > 0x20 }) else { return [] }
        guard let text = String(validating: line, as: UTF8.self) else {
            return [ListEntry(line: number, ListFault("The line is not UTF-8."))]
        }
        return format.read(text, at: number)
    }
}
