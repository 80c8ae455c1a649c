import Formats
import Foundation
import Testing

@testable import Downloads

/// Every hostile name becomes one harmless component, or is refused.
@Suite struct HostileNameTableTests {
    @Test func tableHasEnoughRows() {
        let clients = HostileNames.refusedDirectories.count + HostileNames.acceptedDirectories.count
        #expect(HostileNames.all.count + HostileNames.paths.count + clients >= 500)
        #expect(Set(HostileNames.all.map { Array($0.name.utf8) }).count >= HostileNames.all.count - 20)
    }

    /// The properties of every name that a file can get.
    private func expectHarmless(_ name: String, _ origin: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let isOne = PathComponents.isOne(name) && PathComponents.split(name) == [name] && !name.utf8.contains(0x5C)
        #expect(isOne, "\(origin.debugDescription)", sourceLocation: sourceLocation)
        #expect(name.utf8.count <= 255, "\(origin.debugDescription)", sourceLocation: sourceLocation)
        #expect(String(validating: name.utf8, as: UTF8.self) != nil, sourceLocation: sourceLocation)
        #expect(name.unicodeScalars.first != ".", "\(origin.debugDescription)", sourceLocation: sourceLocation)
        #expect(
            !name.unicodeScalars.contains { $0.properties.generalCategory == .control },
            "\(origin.debugDescription)", sourceLocation: sourceLocation)
        // What fetchd makes of a server's name, a client may ask for.
        #expect(
            FilePathRule.fault(inFilename: name) == nil, "\(origin.debugDescription): \(name.debugDescription)",
            sourceLocation: sourceLocation)
    }

    private func expect(
        _ name: String, _ expected: String, _ origin: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // By bytes: Swift considers two spellings of an accent equal.
        #expect(
            Array(name.utf8) == Array(expected.utf8),
            "\(origin.debugDescription): \(name.debugDescription), not \(expected.debugDescription)",
            sourceLocation: sourceLocation)
        expectHarmless(name, origin, sourceLocation: sourceLocation)
    }

    @Test func sanitisesNameInExtendedParameter() {
        for (name, safe) in HostileNames.all {
            let encoded = name.utf8.map { String(format: "%%%02X", $0) }.joined()
            let header = "attachment; filename*=UTF-8''\(encoded)"
            expect(
                SuggestedFilename.from(contentDisposition: header, url: "https://host/"), safe ?? "download", name)
        }
    }

    @Test func sanitisesNameInQuotedParameter() {
        for (name, safe) in HostileNames.all {
            let quoted = name.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
            // A mark after a quote or an escape is part of that character for Swift.
            guard !name.unicodeScalars.contains("\u{301}") else { continue }
            let header = "attachment; filename=\"\(quoted)\""
            expect(
                SuggestedFilename.from(contentDisposition: header, url: "https://host/"), safe ?? "download", name)
        }
    }

    @Test func sanitisesNameAtTheEndOfAURL() {
        for (name, safe) in HostileNames.all {
            let encoded = name.utf8.map { String(format: "%%%02x", $0) }.joined()
            expect(
                SuggestedFilename.from(contentDisposition: nil, url: "https://host/a/\(encoded)?b=/c"),
                safe ?? "download", name)
        }
    }

    @Test func sanitisesPathOfAURL() {
        for (path, name) in HostileNames.paths {
            expect(SuggestedFilename.from(contentDisposition: nil, url: "https://host\(path)"), name, path)
        }
    }

    /// A server's name is put into a template once. Placeholders in the name are not replaced.
    @Test(arguments: [
        "{suggested_filename}", "{job_id}-{suggested_filename}", "{suggested_filename}.{extension}", "{url_basename}",
        "{extension}", "CON{extension}", "x.{extension}", "{host}{date}", "-{suggested_filename}",
    ])
    func everyTemplateGivesAHarmlessName(_ text: String) throws {
        let template = try #require(FilenameTemplate(text))
        for (name, _) in HostileNames.all {
            let encoded = name.utf8.map { String(format: "%%%02X", $0) }.joined()
            let filled = template.name(
                contentDisposition: "attachment; filename*=UTF-8''\(encoded)", url: "https://host/\(encoded)",
                finalURL: "https://host/", job: JobID("job_1"), at: Sample.now)
            expectHarmless(filled, name)
        }
    }

    /// A name from a template has at most 255 bytes, also after it was made unlike a part.
    @Test(arguments: [244, 245, 249, 250, 251, 253]) func longTemplateGivesANameThatFits(_ count: Int) throws {
        let template = try #require(FilenameTemplate(String(repeating: "n", count: count) + "{extension}"))
        for ending in ["part", "bin", String(repeating: "e", count: 30)] {
            let name = template.name(
                contentDisposition: "attachment; filename=\"x.\(ending)\"", url: "https://host/f",
                finalURL: "https://host/f",
                job: JobID("job_1"), at: Sample.now)
            expectHarmless(name, "\(count) \(ending)")
            let dotted = try #require(FilenameTemplate(String(repeating: "n", count: count) + ".{extension}"))
            expectHarmless(
                dotted.name(
                    contentDisposition: "attachment; filename=\"x.\(ending)\"", url: "https://host/f",
                    finalURL: "https://host/f", job: JobID("job_1"), at: Sample.now), "\(count).\(ending)")
        }
    }

    /// A client's name is refused if it would have to be changed. It may be longer than a suggestion.
    @Test func refusesClientNameThatIsNotSafe() {
        for (name, safe) in HostileNames.all {
            let isSafe = SuggestedFilename.safe(name, bytes: 255).map { Array($0.utf8) } == Array(name.utf8)
            #expect((FilePathRule.fault(inFilename: name) == nil) == isSafe, "\(name.debugDescription)")
            if name.utf8.count <= 240 {
                #expect(isSafe == (safe.map { Array($0.utf8) } == Array(name.utf8)), "\(name.debugDescription)")
            }
        }
    }

    @Test func judgesDirectoriesOfClients() {
        for path in HostileNames.refusedDirectories {
            #expect(FilePathRule.fault(inDirectory: path) != nil, "\(path.debugDescription)")
        }
        for path in HostileNames.acceptedDirectories {
            #expect(FilePathRule.fault(inDirectory: path) == nil, "\(path.debugDescription)")
            #expect(PathComponents.split(path).allSatisfy(PathComponents.isOne), "\(path.debugDescription)")
        }
    }

    /// A number is added to every name that exists, however long its ending is.
    @Test func numberedNamesAreHarmlessAndFit() {
        let endings = [0, 1, 19, 20, 21, 100, 200, 248, 250, 251, 252, 253].map {
            "a." + String(repeating: "e", count: $0)
        }
        let long = [251, 252, 254, 255].map { String(repeating: "n", count: $0) }
        let names = HostileNames.all.compactMap(\.safe) + endings + long + long.map { $0.dropLast(4) + ".txt" }
        for name in names where !name.hasSuffix(".") {
            for number in [1, 9, 10, 99_999] {
                let numbered = FilePathRule.numbered(name, number)
                expectHarmless(numbered, name)
                #expect(numbered.contains(" (\(number))"), "\(name)")
                #expect(Array(numbered.utf8) != Array(name.utf8))
            }
        }
    }
}
