import Formats
import Testing

@testable import Lists

/// Lists of each format, and the jobs that their lines become.
@Suite struct ListReaderTests {
    /// The entries of a list that arrives in pieces of this many bytes.
    private func entries(_ text: String, _ format: ListFormat, base: String? = nil, pieces: Int = 7) -> [ListEntry] {
        var reader = ListReader(format, base: base)
        var rest = Array(text.utf8)[...]
        var entries: [ListEntry] = []
        while !rest.isEmpty {
            entries += reader.read(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
        }
        return entries + reader.finish()
    }

    private func jobs(_ text: String, _ format: ListFormat, base: String? = nil) throws -> [JSON] {
        try entries(text, format, base: base).map { .object(try $0.job.get()) }
    }

    private func faults(_ text: String, _ format: ListFormat, base: String? = nil) -> [String] {
        entries(text, format, base: base).compactMap { entry in
            if case .failure(let fault) = entry.job { "\(entry.line): \(fault.reason)" } else { nil }
        }
    }

    private static let md5 = String(repeating: "ab", count: 16)
    private static let sha256 = String(repeating: "0F", count: 32)

    // MARK: Lines

    @Test(arguments: 1...40)
    func readsTheSameFromPiecesOfAnySize(_ pieces: Int) throws {
        let list = "\u{FEFF}https://h/1\r\n\r\n# comment\n  https://h/2 \nhttps://h/ä\n"
        let read = entries(list, .urls, pieces: pieces)
        #expect(read.map(\.line) == [1, 4, 5])
        #expect(
            try read.map { try $0.job.get()["url"]?.stringValue } == ["https://h/1", "https://h/2", "https://h/ä"])
    }

    @Test func namesLinesThatAreTooLongOrNotText() {
        var reader = ListReader(.urls)
        let long = [UInt8](repeating: 0x61, count: ListReader.longestLine + 1)
        var entries = reader.read(Array("https://h/1\n".utf8) + long + [0x0A, 0xFF, 0xFE, 0x0A])
        entries += reader.read(Array(long.dropLast()) + [0x0D, 0x0A])
        entries += reader.finish()
        #expect(entries.map(\.line) == [1, 2, 3, 4])
        let isGood = entries.map { (try? $0.job.get()) != nil }
        #expect(isGood == [true, false, false, true])
    }

    @Test func endsAtTheLargestNumberOfLines() throws {
        var reader = ListReader(.urls)
        let lines = [UInt8](repeating: 0x0A, count: 1 << 20)
        for _ in 0..<9 { #expect(reader.read(lines).isEmpty) }
        let entries = reader.read(lines)
        #expect(entries.count == 1)
        #expect(throws: ListFault("The list has more than 10000000 lines.", isFatal: true)) { try entries[0].job.get() }
        #expect(reader.read(Array("https://h/\n".utf8)).isEmpty && reader.finish().isEmpty)
    }

    @Test func anEmptyListHasNoEntries() {
        for format in ListFormat.allCases where format != .metalink { #expect(entries("", format, base: nil).isEmpty) }
    }

    @Test func survivesAnyBytes() {
        var random = SystemRandomNumberGenerator()
        let letters = Array("<>=\"/ \t\n\r{}[]:;&#ahttp://md5_ftpurl0123".utf8)
        for format in ListFormat.allCases {
            for _ in 0..<200 {
                var reader = ListReader(format, base: format == .aria2 ? "/srv" : "https://h/")
                for _ in 0..<8 { _ = reader.read((0..<64).map { _ in letters.randomElement(using: &random)! }) }
                _ = reader.read([0xC3, 0x28, 0x00])
                _ = reader.finish()
            }
        }
    }

    // MARK: Formats

    @Test func readsRequests() throws {
        #expect(
            try jobs("{\"url\":\"https://h/\",\"tags\":[\"a\"]}\n", .ndjson) == [["url": "https://h/", "tags": ["a"]]])
        #expect(faults("[]\n{\n", .ndjson).count == 2)
    }

    @Test func readsColumns() throws {
        let list = """
            url\tpath\tsize\tsha-256\tsession\ttags
            https://h/1\ta/b.bin\t12\t\(Self.sha256)\tphotos\tx, y
            2\t\t\t\t\t
            https://h/3
            """
        #expect(
            try jobs(list, .tsv, base: "https://base/dir") == [
                [
                    "url": "https://h/1", "destination": ["directory": "a", "filename": "b.bin"], "expected_size": 12,
                    "checksum": ["algorithm": "sha-256", "value": .string(Self.sha256.lowercased())],
                    "session": "photos", "tags": ["x", "y"],
                ],
                ["url": "https://base/dir/2"], ["url": "https://h/3"],
            ])
    }

    @Test(
        arguments: [
            ("sha-256:\(sha256)", "sha-256"), ("SHA256=\(sha256)", "sha-256"), (sha256, "sha-256"), (md5, "md5"),
            ("md5:\(md5)", "md5"), ("crc32:01", nil), ("zz", nil),
        ] as [(String, String?)])
    func readsChecksums(_ cell: String, _ algorithm: String?) throws {
        let entry = try #require(entries("url\tchecksum\nhttps://h/\t\(cell)\n", .tsv).first)
        let checksum = (try? entry.job.get())?["checksum"]?.objectValue
        #expect(checksum?["algorithm"]?.stringValue == algorithm)
    }

    @Test(
        arguments: [
            ("url\tcolour\nhttps://h/\n", "1: 'colour' is not a column"),
            ("path\nx\n", "1: The first line names no column"),
            ("url\turl\nx\n", "1: The column 'url' is there twice"),
            ("url\nhttps://h/\tmore\n", "2: The line has 2 cells for 1 columns"),
            ("url\tsize\nhttps://h/\tbig\n", "2: 'big' is not a size"),
            ("url\tpath\nhttps://h/\t../x\n", "2: '../x' is not a path"),
        ])
    func namesWhatIsWrongWithColumns(_ list: String, _ fault: String) {
        let faults = faults(list, .tsv)
        #expect(faults.count == 1 && faults[0].hasPrefix(fault), "\(faults)")
    }

    @Test func readsDigestsAndNames() throws {
        let list = """
            \(Self.sha256)  a b/c#d.bin
            \(Self.md5) *./x{1}.bin
            \\\(Self.md5)  new\\nline
            SHA256 (tagged (1).bin) = \(Self.sha256)
            # comment
            """
        let read = try jobs(list, .sha256sum, base: "https://h/dir/")
        #expect(
            read.map { $0.objectValue?["url"]?.stringValue } == [
                "https://h/dir/a%20b/c%23d.bin", "https://h/dir/x%7B1%7D.bin", "https://h/dir/new%0Aline",
                "https://h/dir/tagged%20%281%29.bin",
            ])
        #expect(
            read.map { $0.objectValue?["destination"] } == [
                ["directory": "a b", "filename": "c#d.bin"], nil, ["filename": "new\nline"],
                ["filename": "tagged (1).bin"],
            ])
        #expect(
            read.map { $0.objectValue?["checksum"]?.objectValue?["algorithm"] } == ["sha-256", "md5", "md5", "sha-256"])
    }

    @Test(arguments: ["nonsense", "\(md5)", "SHA3-256 (x) = \(md5)", "\(md5)  ../x", "\(md5)  /etc/passwd", "abcd  x"])
    func namesLinesWithoutADigestOrAName(_ line: String) {
        #expect(faults(line + "\n", .sha256sum, base: "https://h/").count == 1)
    }

    @Test func readsAReportWithTwoFilesInARow() throws {
        let list = """
            run_accession\tfastq_ftp\tfastq_md5\tfastq_bytes\tsra_ftp
            SRR1\tftp.ebi/1_1.gz;ftp.ebi/1_2.gz\t\(Self.md5);\(String(Self.md5.reversed()))\t10;20\t
            SRR2\t\t\t\t
            SRR3\thttp://h/3.gz;\t\t\tftp.ebi/3.sra
            """
        let read = try jobs(list, .ena)
        #expect(
            read[..<2] == [
                [
                    "url": "https://ftp.ebi/1_1.gz", "checksum": ["algorithm": "md5", "value": .string(Self.md5)],
                    "metadata": ["run_accession": "SRR1"], "expected_size": 10,
                ],
                [
                    "url": "https://ftp.ebi/1_2.gz",
                    "checksum": ["algorithm": "md5", "value": .string(String(Self.md5.reversed()))],
                    "metadata": ["run_accession": "SRR1"], "expected_size": 20,
                ],
            ])
        #expect(read[2...].map { $0.objectValue?["url"] } == ["http://h/3.gz", "https://ftp.ebi/3.sra"])
        #expect(try jobs(list, .ena, base: "http://").first?.objectValue?["url"] == "http://ftp.ebi/1_1.gz")
    }

    @Test func namesAReportThatDoesNotFit() {
        #expect(faults("run_accession\nSRR1\n", .ena) == ["1: The first line names no column such as fastq_ftp."])
        #expect(
            faults("fastq_ftp\tfastq_md5\na;b\t\(Self.md5)\n", .ena) == [
                "2: fastq_ftp has 2 files, fastq_md5 1 and fastq_bytes 0."
            ])
    }

    @Test func readsAnInputFileOfAria2() throws {
        let list = "# c\nhttps://a/1\thttps://b/1\n out=x.bin\n pause=true\n bt-x=1\n\nhttps://a/2\nmagnet:?xt=1\n"
        let read = entries(list, .aria2)
        #expect(read.map(\.line) == [2, 7, 8])
        #expect(
            try JSON.object(read[0].job.get()) == [
                "urls": ["https://a/1", "https://b/1"], "destination": ["filename": "x.bin"], "state": "paused",
            ])
        #expect(read[0].remarks == ["Its option bt-x has no counterpart, and is left out."])
        #expect(faults(list, .aria2).count == 1)
        #expect(faults(" out=x\n", .aria2) == ["1: It is neither an address nor an option."])
    }

    @Test func limitsTheOptionsOfAnEntry() {
        let list = "https://a/1\n" + String(repeating: " out=x\n", count: 300)
        #expect(faults(list, .aria2).count == 44)
    }

    // MARK: Bases

    @Test(
        arguments: [
            (.sha256sum, nil, false), (.sha256sum, "https://h/d", true), (.sha256sum, "h/d", false),
            (.sha256sum, "https://h/?a", false), (.ena, "http://", true), (.ena, "https://mirror/", true),
            (.ena, "ftp://", false), (.tsv, nil, true), (.urls, "https://h/", true), (.ndjson, "https://h/", false),
            (.metalink, "https://h/", false), (.aria2, "/srv", true), (.aria2, "https://h/", false),
        ] as [(ListFormat, String?, Bool)])
    func judgesTheBase(_ format: ListFormat, _ base: String?, _ isGood: Bool) {
        #expect((format.fault(inBase: base) == nil) == isGood)
    }

    @Test(
        arguments: [
            ("https://h/1", true), ("h/1", false), ("localhost:80/1", false), ("127.0.0.1:80/1", false),
            ("rehearse:1", true), ("://x", false), ("magnet:?x", false), ("a/b://c", false),
        ])
    func tellsURLsFromRelativeOnes(_ value: String, _ isComplete: Bool) {
        #expect(BaseURL.hasScheme(value) == isComplete)
    }

    @Test func choosesTheFormatByTheMediaType() {
        #expect(ListFormat(mediaType: "text/uri-list") == .urls)
        #expect(ListFormat(mediaType: "application/octet-stream") == nil)
        #expect(ListFormat.mediaTypes.count == 5 && !ListFormat.mediaTypes.contains("text/plain"))
    }
}
