import Formats
import Testing

@testable import Lists

/// Documents of Metalink, and the jobs that their files become.
@Suite struct MetalinkTests {
    private func entries(_ text: String, pieces: Int = 11) -> [ListEntry] {
        var reader = ListReader(.metalink)
        var entries: [ListEntry] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            entries += reader.read(Array(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
        }
        return entries + reader.finish()
    }

    private static let digest = String(repeating: "ab", count: 32)

    @Test(arguments: [1, 3, 64, 4096])
    func readsFilesWithMirrorsInTheirOrder(_ pieces: Int) throws {
        let read = entries(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <metalink xmlns="urn:ietf:params:xml:ns:metalink">
              <published>2009-05-15T12:23:23Z</published>
              <file name="dir/example.ext">
                <size>14471447</size><identity>Example</identity>
                <hash type="md5">\(String(repeating: "0", count: 32))</hash>
                <hash type="sha-256"> \(Self.digest)
                </hash>
                <pieces length="1048576" type="sha-256"><hash>00</hash></pieces>
                <url location="de" priority="2">https://b/example.ext?a=1&amp;b=2</url>
                <url location="fr">https://c/example.ext</url>
                <url priority="1">http://a/example.ext</url>
                <url priority="1">ftp://f/example.ext</url>
                <metaurl mediatype="torrent">https://t/example.torrent</metaurl>
              </file>
              <file name="two"><url>https://a/two</url></file>
            </metalink>
            """, pieces: pieces)
        #expect(read.map(\.line) == [4, 16])
        #expect(
            try JSON.object(read[0].job.get()) == [
                "urls": ["http://a/example.ext", "https://b/example.ext?a=1&b=2", "https://c/example.ext"],
                "destination": ["directory": "dir", "filename": "example.ext"], "expected_size": 14_471_447,
                "checksum": ["algorithm": "sha-256", "value": .string(Self.digest)],
            ])
        #expect(read[0].remarks == ["1 addresses that are not http or https are left out."])
        #expect(try JSON.object(read[1].job.get()) == ["url": "https://a/two", "destination": ["filename": "two"]])
    }

    @Test func readsVersion3() throws {
        let read = entries(
            """
            <metalink version="3.0" xmlns="http://www.metalinker.org/"><files><file name="x.iso"><size>5</size>
            <verification><hash type="sha1">\(String(repeating: "c", count: 40))</hash></verification>
            <resources><url type="http" preference="10">http://b/x.iso</url><url type="http" preference="100">http://a/x.iso</url>
            </resources></file></files></metalink>
            """)
        let job = try #require(read.first).job.get()
        #expect(
            JSON.object(job) == [
                "urls": ["http://a/x.iso", "http://b/x.iso"], "destination": ["filename": "x.iso"], "expected_size": 5,
                "checksum": ["algorithm": "sha-1", "value": .string(String(repeating: "c", count: 40))],
            ])
    }

    @Test(
        arguments: [
            ("", 1), ("<html/>", 1), ("not xml", 1), ("<metalink><file name='x'><url>https://h/</url>", 1),
            ("<metalink><file name='../x'><url>https://h/</url></file></metalink>", 1),
            ("<metalink><file name='x'></file></metalink>", 1),
            ("<metalink><file name='x'><size>?</size><url>https://h/</url></file></metalink>", 1),
            (String(repeating: "<a>", count: 40), 1),
        ])
    func namesWhatIsWrong(_ document: String, _ faults: Int) {
        let faulty = entries(document).filter { (try? $0.job.get()) == nil }
        #expect(faulty.count == faults)
    }

    @Test func loadsNoEntitiesAndLimitsTheirGrowth() {
        let outside = """
            <!DOCTYPE metalink [<!ENTITY x SYSTEM "file:///etc/passwd">]>
            <metalink><file name="x"><url>https://h/&x;</url></file></metalink>
            """
        for entry in entries(outside) {
            let url = (try? entry.job.get())?["url"]?.stringValue
            #expect(url?.contains("root") != true)
        }
        let levels = (1...30).map { "<!ENTITY e\($0) \"&e\($0 - 1);&e\($0 - 1);\">" }.joined()
        let bomb =
            "<!DOCTYPE metalink [<!ENTITY e0 \"aaaaaaaaaa\">\(levels)]><metalink><file name='x'><url>&e30;</url></file></metalink>"
        let last = entries(bomb, pieces: 4096).last
        #expect(throws: ListFault.self) { try #require(last).job.get() }
    }

    @Test(
        arguments: [
            "<metalink><file name='x'>" + String(repeating: "<url/>", count: 9_000),
            "<metalink><file name='x'><url>" + String(repeating: "a", count: 70_000),
            "<metalink><!--" + String(repeating: "a", count: 400_000),
            "<metalink a='" + String(repeating: "a", count: 400_000),
        ])
    func limitsTheMemoryOfAFile(_ document: String) {
        let entries = entries(document, pieces: 64 << 10)
        #expect(entries.count == 1)
        #expect(throws: ListFault.self) { try #require(entries.first).job.get() }
    }
}
