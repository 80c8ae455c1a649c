/// Names that a server may suggest or a client may ask for, and the safe name for each.
enum HostileNames {
    /// `safe` is nil if nothing is left of the name.
    typealias Row = (name: String, safe: String?)

    static let all: [Row] =
        devices + likeDevices + traversals + controls + invisible + joiners + edges + nothing + parts + harmless + long

    /// Names of devices in Windows, with every kind of ending.
    static let devices: [Row] = {
        let digits = (0...9).map(String.init) + ["\u{B9}", "\u{B2}", "\u{B3}"]
        let names =
            ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "con", "Nul", "aUx", "prN"]
            + digits.flatMap { ["COM\($0)", "lpt\($0)"] }
        return names.flatMap { name in
            ["", ".txt", ".tar.gz", " .txt", ":stream"].map { (name + $0, "_" + name + $0) }
        }
    }()

    static let likeDevices: [Row] = [
        "CONSOLE", "CON1.txt", "COM", "COM10", "COM1x.txt", "LPT", "LPT11", "NULL", "aux-file", "my.con", "x.nul",
        "_CON",
        "\u{FF23}ON", "CO\u{301}N", "COM\u{2074}", "CLOCK$",
    ].map { ($0, $0) }

    /// Only the last component of a path is a name.
    static let traversals: [Row] = {
        let ways = [
            "../", "..\\", "/", "\\", "./", ".\\", "....//", "..;/", "C:\\", "c:/", "\\\\server\\share\\",
            "\\\\?\\C:\\", "~/",
            "file:///", "../../../../../../", "a/../../", "..\\../..\\", "/.\u{301}./", "..\u{0}/", ".incomplete/",
        ]
        let targets = [("passwd", "passwd"), (".ssh/authorized_keys", "authorized_keys"), (".bashrc", "bashrc")]
        return ways.flatMap { way in targets.map { (way + $0.0, $0.1) } }
    }()

    static let controls: [Row] = (Array(0..<0x20) + Array(0x7F...0x9F)).compactMap { value in
        Unicode.Scalar(UInt32(value)).map { ("a\($0)b.txt", "ab.txt") }
    }

    static let invisible: [Row] =
        ([0x61C, 0x180E, 0x200B, 0x200E, 0x200F] + Array(0x2028...0x202E) + Array(0x2060...0x206F)
        + [0xFEFF, 0xFFF9, 0xFFFA, 0xFFFB]).compactMap { value in
            Unicode.Scalar(UInt32(value)).map { ("invoice\($0)gpj.exe", "invoicegpj.exe") }
        }

    /// They are needed to write Persian and Hindi, and emoji of several people.
    static let joiners: [Row] = [
        "\u{645}\u{6CC}\u{200C}\u{62E}\u{648}\u{627}\u{647}\u{645}", "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
        "\u{915}\u{94D}\u{200D}\u{937}", "\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}",
    ].map { ($0, $0) }

    /// Dots and spaces at both ends.
    static let edges: [Row] = {
        let loose = [
            ".", "..", "...", " ", "  ", ". ", " .", ". . ", "\u{A0}", "\u{2003}", "\u{3000}", "\u{1680}", "\u{205F}",
            "\u{202E}.", ".\u{200B} ", "\t.",
        ]
        return loose.flatMap { [($0 + "x.txt", "x.txt"), ("x.txt" + $0, "x.txt"), ($0 + "x.txt" + $0, "x.txt")] }
    }()

    static let nothing: [Row] = [
        "", ".", "..", "...", " ", ". .", "\u{A0}", "\u{200B}", "\u{202E}\u{2066}", "/", "\\", "///", "../", "..\\",
        "/.",
        "/..", "a/..", "a/.", "\u{0}", "\r\n", "\t", "\u{FEFF}", ".\u{0}.", " / ", "\u{85}",
    ].map { ($0, nil) }

    static let parts: [Row] = [
        (".part", "part"), ("x.part", "x.part_"), ("x.part.", "x.part_"), ("x.part ", "x.part_"),
        ("x.part\u{202E}", "x.part_"),
        ("x.par\u{200E}t", "x.part_"), ("a.b.part", "a.b.part_"), (".x.part", "x.part_"), ("../x.part", "x.part_"),
        ("CON.part", "_CON.part_"), (".incomplete", "incomplete"), ("x.part.txt", "x.part.txt"), ("x.PART", "x.PART"),
        ("part", "part"), ("x.partial", "x.partial"),
        ("\(String(repeating: "p", count: 235)).part", "\(String(repeating: "p", count: 234)).part_"),
        ("\(String(repeating: "p", count: 300)).part", "\(String(repeating: "p", count: 234)).part_"),
    ]

    /// One component that Linux takes as it is. Only programs that read it could misunderstand it.
    static let harmless: [Row] = [
        "-rf", "--help", "-", "~", "~root", "$HOME", "$(id)", "`id`", "a;b", "a|b", "a&b", "<a>", "*", "?", "a'b",
        "a\"b",
        "#a", "a b", "a%20b", "%2e%2e%2fpasswd", "%252e%252e%252fpasswd", "%00", "&#46;&#46;&#47;",
        "\u{FF0F}etc\u{FF0F}passwd",
        "\u{2215}etc", "\u{2044}etc", "\u{29F8}etc", "\u{FF3C}x", "\u{2216}x", "\u{FF0E}\u{FF0E}", "\u{2024}\u{2024}x",
        "\u{3002}x", "C:x.txt", "x.txt:stream", "x.txt::$DATA", "a..b", "a...txt", "{job_id}",
        "{suggested_filename}.txt", "{",
        "}{", "{{host}}", "caf\u{E9}.txt", "cafe\u{301}.txt", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{FFFD}", "\u{FFFE}",
        "\u{10FFFF}",
        "\u{65E5}\u{672C}.bin", "\u{5D0}\u{5D1}.txt", "a\u{AD}b", "desktop.ini", "Thumbs.db", "index.html", "a.lnk",
        "\u{301}x",
    ].map { ($0, $0) }

    /// Names around the limit, with scalars of one to four bytes: as many whole scalars stay as fit before the extension.
    static let long: [Row] = {
        var rows: [Row] = []
        for unit in ["a", "\u{E9}", "\u{65E5}", "\u{1F600}"] {
            for ending in ["", ".txt", ".abcdefghijklmnopqrs"] {
                let width = unit.utf8.count
                let room = (240 - ending.utf8.count) / width
                // With a type, because the compiler needs half a minute to find it.
                let counts: [Int] = [room - 1, room, room + 1, 255 / width, 256 / width, 257 / width + 1, 1000]
                for count in counts {
                    let kept = String(repeating: unit, count: min(count, room))
                    rows.append((String(repeating: unit, count: count) + ending, kept + ending))
                }
            }
        }
        return rows
    }()

    // MARK: Paths of URLs

    /// Paths as they are in URLs, and the name for each.
    static let paths: [(path: String, name: String)] = [
        ("/", "download"), ("", "download"), ("/a/", "download"), ("/..", "download"), ("/.", "download"),
        ("/a/..", "download"),
        ("/%2e%2e", "download"), ("/%2e", "download"), ("/%20", "download"), ("/%00", "download"), ("/a%00b", "ab"),
        ("/%2e%2e%2fpasswd", "passwd"), ("/..%2fpasswd", "passwd"), ("/..%2Fpasswd", "passwd"),
        ("/%2e%2e%5cpasswd", "passwd"),
        ("/..%5c..%5cpasswd", "passwd"), ("/%2Fetc%2Fpasswd", "passwd"), ("/a%2f..%2f..%2fpasswd", "passwd"),
        ("/%2e%2e%2f", "download"), ("/%2e%2e%5c", "download"), ("/%252e%252e%252fpasswd", "%2e%2e%2fpasswd"),
        ("/%25252e", "%252e"), ("/%c0%ae%c0%ae%c0%afpasswd", "%c0%ae%c0%ae%c0%afpasswd"),
        ("/%e0%80%af", "%e0%80%af"), ("/%ff%fe.txt", "%ff%fe.txt"), ("/%ed%a0%80.txt", "%ed%a0%80.txt"),
        ("/%f4%90%80%80", "%f4%90%80%80"), ("/a%e2%80%aegpj.exe", "agpj.exe"), ("/%ef%bb%bfx.txt", "x.txt"),
        ("/%e2%80%8bx.txt", "x.txt"), ("/%0d%0ax", "x"), ("/%7fx", "x"), ("/%c2%85x", "x"), ("/x.txt%20", "x.txt"),
        ("/x.txt%2e", "x.txt"), ("/.htaccess", "htaccess"), ("/%2ehtaccess", "htaccess"), ("/~root", "~root"),
        ("/%7eroot", "~root"), ("/nul", "_nul"), ("/%4eul.txt", "_Nul.txt"), ("/com1%2etxt", "_com1.txt"),
        ("/x.part", "x.part_"), ("/x%2epart", "x.part_"), ("/a;v=1", "a;v=1"), ("/a%3Fb", "a?b"), ("/a%23b", "a#b"),
        ("/a?b=/c", "a"), ("/a#/b", "a"), ("/a%20b.txt", "a b.txt"), ("/caf%C3%A9", "caf\u{E9}"),
        ("/cafe%CC%81", "cafe\u{301}"),
        ("/a/%2e%2e%2f%2e%2e%2f%2e%2e", "download"), ("/%EF%BC%8Fetc", "\u{FF0F}etc"), ("/%E2%88%95etc", "\u{2215}etc"),
    ]

    // MARK: Directories

    /// Directories that a client may not ask for.
    static let refusedDirectories = [
        "/", "/a", "/etc", "//a", "..", "../a", "a/..", "a/../b", "a/../../b", ".", "./a", "a/.", "a/./b", "a//b", "a/",
        ".a",
        "a/.b", ".incomplete", ".incomplete/x", "a/.incomplete", "a\\b", "..\\a", "C:\\a", "a\u{0}", "a\u{0}/b", "a\n",
        "a\u{7F}",
        "a\u{85}", "a\u{202E}b", "a\u{200B}", "\u{FEFF}a", " a", "a ", "a /b", "a/ b", "a.", "a./b", "a\u{A0}",
        "\u{3000}",
        "CON", "a/nul", "a/NUL.txt/b", "com1", "LPT9/x", "COM\u{B2}", "con /x", "x.part", "a/x.part", "a/\u{301}/..",
        "../\u{301}b",
        "/\u{301}abs", "a/.\u{301}", ".\u{301}", "..\u{301}",
        String(repeating: "a", count: 256), "a/" + String(repeating: "\u{E9}", count: 128),
        Array(repeating: "abcdefg", count: 129).joined(separator: "/"),
    ]

    static let acceptedDirectories = [
        "", "a", "a/b/c", "a b", "a..b", "a/b..c", "-a", "~", "~root/x", "$HOME", "{job_id}", "%2e%2e",
        "%2e%2e%2fa", "caf\u{E9}", "cafe\u{301}", "\u{65E5}/\u{672C}", "\u{FF0E}\u{FF0E}", "\u{2215}etc", "CONSOLE",
        "part",
        String(repeating: "a", count: 255), Array(repeating: "abcdefg", count: 128).joined(separator: "/"),
    ]
}
