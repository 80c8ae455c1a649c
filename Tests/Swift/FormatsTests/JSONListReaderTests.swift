import Testing

@testable import Formats

/// Documents such as `{"jobs": [...]}`, read element by element.
@Suite struct JSONListReaderTests {
    private typealias Step = JSONListReader.Step

    /// All steps of a document, up to the first that is no element.
    private func steps(_ text: String, limit: Int = 1_000) throws -> [Step] {
        var reader = JSONListReader("jobs", in: Array(text.utf8), elementsOfAtMost: limit)
        var steps: [Step] = []
        while true {
            let step = try reader.next()
            steps.append(step)
            guard case .element = step else { return steps }
        }
    }

    @Test(
        arguments: [
            (#"{"jobs":[]}"#, [.end]),
            (#" { "jobs" : [ 1 , {"a":[2]} ] } "#, [.element(1), .element(["a": [2]]), .end]),
            (#"{"jobs":["a"]}"#, [.element("a"), .end]),
            ("{}", [.notAList]), (#"{"jobs":null}"#, [.notAList]), (#"{"jobs":{"a":1}}"#, [.notAList]),
            ("[]", [.notAnObject]), ("1", [.notAnObject]), (#""jobs""#, [.notAnObject]),
            (#"{"job":[1],"jobs":[2]}"#, [.element(2), .otherMember("job")]),
            (#"{"jobs":1,"other":2}"#, [.notAList]), (#"{"other":1,"jobs":2}"#, [.otherMember("other")]),
            (#"{"jobs":[1],"other":[2]}"#, [.element(1), .otherMember("other")]),
        ] as [(String, [JSONListReader.Step])])
    func readsElements(_ text: String, _ expected: [JSONListReader.Step]) throws {
        #expect(try steps(text) == expected)
    }

    @Test(arguments: [
        "", "{", #"{"jobs""#, #"{"jobs":"#, #"{"jobs":["#, #"{"jobs":[1"#, #"{"jobs":[1,"#, #"{"jobs":[1,]}"#,
        #"{"jobs":[1}"#, #"{"jobs":[1]"#, #"{"jobs":[1],}"#, #"{"jobs":[1]} x"#, #"{"jobs":[1],"jobs":[]}"#,
        "{} x", "[] x", #"{"other":}"#, #"{"other":1,}"#, #"{"other":1}{}"#, #"{"jobs":1,}"#, "nonsense",
        #"{"jobs":nonsense}"#, #"{"jobs":[1 2]}"#, "{jobs:[]}",
    ])
    func refusesWhatIsNotJSON(_ text: String) {
        #expect(throws: JSONFault.self) { try steps(text) }
    }

    @Test func boundsTheSizeOfElements() throws {
        let element = #"{"a":"bcd"}"#
        let list = #"{"jobs":[\#(element), \#(element)]}"#
        #expect(try steps(list, limit: element.utf8.count).count == 3)
        #expect(try steps(list, limit: element.utf8.count - 1) == [.tooLarge])
        #expect(try steps("[" + list + "]", limit: 10) == [.notAnObject])
        #expect(try steps(#"{"a":1,"b":2,"c":nonsense"#, limit: 10) == [.otherMember("a")])
    }

    /// A document that is read in this way and one that is read at once are the same, wherever it ends.
    @Test func agreesWithTheParser() throws {
        let text = Array(#"{"jobs": [{"a": [1, "\u00e9", {}]}, null, true, -1.5e3, "x"]}"#.utf8)
        for end in 0...text.count {
            let part = String(decoding: text[..<end], as: UTF8.self)
            let isWhole = (try? JSON(parsing: part)) != nil
            #expect(((try? steps(part))?.last == .end) == isWhole)
        }
        let whole = try JSON(parsing: text).objectValue?["jobs"]?.arrayValue
        #expect(try steps(String(decoding: text, as: UTF8.self)).dropLast() == whole?.map { .element($0) }[...])
    }
}
