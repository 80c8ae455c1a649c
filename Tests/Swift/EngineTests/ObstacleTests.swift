import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Engine

/// Links, devices and pipes in the place of parts and of finished files: fetchd touches nothing outside its folder, and
/// never blocks on them.
@Suite struct ObstacleTests {
    private let fixture: FolderFixture
    private let outside: OutsideFolder

    init() throws { (fixture, outside) = (try FolderFixture(), try OutsideFolder()) }

    private func put(_ obstacle: Obstacle, _ name: String) -> Bool {
        obstacle.put(at: fixture.temporary.path(name), outside: outside)
    }

    // MARK: Parts

    @Test(arguments: Obstacle.allCases) func isNotOpenedAsAPart(_ obstacle: Obstacle) throws {
        guard put(obstacle, ".incomplete/part_1.part") else { return #expect(obstacle == .device) }
        let part = Part(
            id: PartID("part_1"), url: "", validators: Validators(), size: nil, ranges: ByteRanges(prefix: 4))
        #expect(throws: DownloadsFolder.PartLoss.self) { try fixture.folder.openPart(part) }
        #expect(outside.isUntouched)
    }

    @Test(arguments: Obstacle.allCases) func isNotCutAsAPart(_ obstacle: Obstacle) throws {
        guard put(obstacle, ".incomplete/part_1.part") else { return #expect(obstacle == .device) }
        #expect(fixture.folder.sweepParts(needed: [PartID("part_1"): 4]).truncated == 0)
        #expect(outside.isUntouched)
        _ = fixture.folder.sweepParts(needed: [:])
        #expect(outside.isUntouched)
    }

    @Test(arguments: Obstacle.allCases) func isNotMadeOverByANewPart(_ obstacle: Obstacle) throws {
        guard put(obstacle, ".incomplete/part_1.part") else { return #expect(obstacle == .device) }
        #expect(throws: DiskError.self) { try fixture.folder.makePart(PartID("part_1")) }
        #expect(outside.isUntouched)
    }

    @Test(arguments: Obstacle.allCases) func isNotPromotedAsAPart(_ obstacle: Obstacle) throws {
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3)
        #expect(unlink(fixture.temporary.path(".incomplete/part_1.part")) == 0)
        guard put(obstacle, ".incomplete/part_1.part") else { return #expect(obstacle == .device) }
        guard case .changed? = fixture.folder.place([promotion]).first.flatMap({ $0 }) else {
            Issue.record("it is not the verified part")
            return
        }
        #expect(fixture.text("f") == nil)
        #expect(outside.isUntouched)
    }

    // MARK: The probe

    @Test(arguments: Obstacle.allCases) func doesNotMisleadTheProbe(_ obstacle: Obstacle) throws {
        // The probe moves a file of this name.
        let other = try TemporaryFolder()
        _ = try other.write("precious", to: ".probe")
        for name in [".incomplete/.probe", ".fetchd-probe"] {
            guard put(obstacle, name) else { return #expect(obstacle == .device) }
            if obstacle == .linkToFolder {
                #expect(unlink(fixture.temporary.path(name)) == 0)
                #expect(symlink(other.path, fixture.temporary.path(name)) == 0)
            }
            let fault = fixture.folder.inspect(byWriting: true)
            // A folder in the place of the file of the probe is in a folder that only fetchd may write.
            #expect(fault == nil || obstacle == .folder && name.hasSuffix("/.probe"), "\(name)")
            #expect(outside.isUntouched)
            #expect(other.bytes(of: ".probe") == Array("precious".utf8))
            rmdir(fixture.temporary.path(name))
        }
        #expect(fixture.temporary.files.isEmpty)
    }

    // MARK: Destinations

    @Test(arguments: Obstacle.allCases, [Destination.Conflict.rename, .replace, .error])
    func isNotOpenedAtTheDestination(_ obstacle: Obstacle, _ conflict: Destination.Conflict) throws {
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3, conflict)
        guard put(obstacle, "f") else { return #expect(obstacle == .device) }
        let fault = fixture.folder.place([promotion])[0]
        switch (fault, conflict) {
        case (nil, .replace) where obstacle != .folder: #expect(fixture.text("f") == "abc")
        case (.invalid?, .replace) where obstacle == .folder: break
        case (.nameTaken?, .rename), (.occupied?, .error): break
        default: Issue.record("\(obstacle), \(conflict): \(String(describing: fault))")
        }
        // A replaced name of the file is gone, and the file has its other name.
        #expect(outside.isUntouched)
    }

    @Test(arguments: Obstacle.allCases) func isNotServedOrRemovedAsAFinishedFile(_ obstacle: Obstacle) throws {
        let promotion = try fixture.promotion(of: fixture.part("part_1", "abc"), to: "f", size: 3)
        #expect(fixture.folder.place([promotion])[0] == nil)
        #expect(unlink(fixture.temporary.path("f")) == 0)
        guard put(obstacle, "f") else { return #expect(obstacle == .device) }
        #expect(fixture.folder.openFile(promotion.file) == nil)
        try fixture.folder.removeFile(promotion.file)
        var status = stat()
        #expect(lstat(fixture.temporary.path("f"), &status) == 0)
        #expect(outside.isUntouched)
    }

    @Test(arguments: Obstacle.allCases) func isNotEnteredAsAFolder(_ obstacle: Obstacle) throws {
        guard obstacle != .folder, put(obstacle, "a") else { return }
        for path in ["a/f", "a/b/f"] {
            let promotion = try fixture.promotion(of: fixture.part("part_\(path.count)", "abc"), to: path, size: 3)
            guard case .invalid? = fixture.folder.place([promotion])[0] else {
                Issue.record("\(obstacle) is no folder")
                continue
            }
        }
        #expect(outside.isUntouched)
    }
}
