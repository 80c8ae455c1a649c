import Testing

@testable import HTTPSemantics

/// Dictionaries of structured fields (RFC 9651), well-formed and hostile.
@Suite struct StructuredDictionaryTests {
    private func members(_ lines: String...) -> [String: [UInt8]]? { StructuredDictionary(lines)?.byteSequences }

    @Test func readsByteSequencesByName() {
        #expect(members("a=:aGk=:") == ["a": [0x68, 0x69]])
        #expect(members("  a=:aGk=: ,\tb2-.*_=:AA==:  ") == ["a": [0x68, 0x69], "b2-.*_": [0]])
        #expect(members("*x=::") == ["*x": []])
        #expect(members("a=:aGk=:;q=1;w; s=\"x\\\"y\\\\\";t=tok/en:*;b=?1;d=@-5;u=%\"f%c3%bc\";n=-1.5;y=:AA==:") != nil)
    }

    @Test func joinsLinesIntoOneDictionary() {
        #expect(members("a=:AA==:", "b=:AQ==:") == ["a": [0], "b": [1]])
        #expect(members("", "b=:AQ==:", "  ") == ["b": [1]])
        #expect(members("a=:AA==:", "b=") == nil)
        #expect(members() == [:])
    }

    /// Of two members with the same name the last counts.
    @Test func takesLastOfMembersWithSameName() {
        #expect(members("a=:AA==:, a=:AQ==:") == ["a": [1]])
        #expect(members("a=:AA==:, a=1") == [:])
        #expect(members("a=:AA==:", "a") == [:])
    }

    @Test func skipsMembersOfOtherTypes() {
        let others = [
            "1", "-1", "999999999999999", "1.5", "123456789012.123", "\"text\"", "token", "*", "T0/:!#$%&'*+-.^_`|~",
            "?0", "?1", "@1659578233", "%\"t%c3%a4st\"", "()", "( 1 :AA==: \"x\" )", "(:AA==:;p=1 b);q",
        ]
        for other in others {
            #expect(members("x=\(other), a=:AA==:") == ["a": [0]], "\(other)")
            #expect(members("a=:AA==:,x=\(other);p=\(other.hasPrefix("(") ? "1" : other)") == ["a": [0]], "\(other)")
        }
        #expect(members("x, y;p, a=:AA==:") == ["a": [0]])
    }

    /// Padding may be missing, and its bits may be set (RFC 9651, section 4.2.7).
    @Test func acceptsMissingAndNonZeroPadding() {
        #expect(members("a=:AA:") == ["a": [0]])
        #expect(members("a=:aGk:") == ["a": [0x68, 0x69]])
        #expect(members("a=:aGl=:") == ["a": [0x68, 0x69]])
        #expect(members("a=:AB==:") == ["a": [0]])
    }

    @Test(arguments: [
        ",", "a=", "a=:AA==:,", ",a=:AA==:", "a=:AA==:,,b=1", "a=:AA==: b=1", "A=:AA==:", "1a=1", "-a=1", "a =1",
        "a= 1",
        "a=:AA==", "a=AA==:", "a=:A A=:", "a=:A_-=:", "a=:A:", "a=:====:", "a=:=AA=:", "a=:AA=:", "a=:AA===:",
        "a=:AAA==:", "a=:AA==AA==:", "a=:=:", "a=:AA==:x", "a=::;",
        "a=:AA==:;P",
        "a=:AA==: ;p", "a=\"", "a=\"x", "a=\"\\x\"", "a=\"é\"", "a=\"\u{7F}\"", "a=?", "a=?2", "a=?true", "a=@",
        "a=@1.5",
        "a=%", "a=%\"%ff\"", "a=%\"%C3\"", "a=%\"%c\"", "a=%\"", "a=%x", "a=1.", "a=1.2345", "a=1234567890123.1",
        "a=1234567890123456",
        "a=-", "a=--1", "a=.5", "a=+1", "a=(", "a=(1", "a=(1,2)", "a=((1))", "a=(1 2))", "a=(1\t2)", "a=(1;)", "é=1",
        "sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "\0", "a=\0", "a=:AA==:\u{A0}",
    ])
    func refusesWholeFieldOnAnyMistake(_ text: String) {
        #expect(members(text) == nil)
        #expect(members("z=:AA==:, " + text) == nil)
        #expect(members("z=:AA==:", text) == nil)
    }

    /// A field long enough to keep the transfer loop busy is ignored.
    @Test func ignoresFieldsThatAreTooLong() {
        let padding = String(repeating: ",x", count: (StructuredDictionary.longest - 8) / 2)
        #expect(members("a=:AA==:" + padding) == ["a": [0]])
        #expect(members("a=:AA==:" + padding, "x") == nil)
        let names = (0..<50_000).lazy.map { "k\($0)" }.joined(separator: ",")
        #expect(members("a=:AA==:", names) == nil)
    }

    /// Truncated or shuffled text is parsed to its end and no further.
    @Test func parsesAnyTextWithoutOverrun() {
        let alphabet = Array("a=:A;(),\" ?@%-.1*\\\t".utf8)
        var random = UInt64(20_190_819)
        for _ in 0..<20_000 {
            let bytes = (0..<12).map { _ in
                random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return alphabet[Int(random >> 33) % alphabet.count]
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let members = members(text) else { continue }
            // Well-formed text stays well-formed with one more member.
            let isEmpty = text.allSatisfy { $0 == " " || $0 == "\t" }
            #expect(
                self.members((isEmpty ? "" : text + ",") + "zz=:AA==:") == members.merging(["zz": [0]]) { $1 },
                "\(text)")
        }
    }
}
