import Formats
import Testing

@testable import Downloads

/// The owner and the location in the identifier of a part.
@Suite struct PartIDTests {
    private static let ulid = "01HZX3K9V7Q2N4R8T6W0YB5CDH"

    @Test func endsWithItsOwner() throws {
        let ulid = try #require(ULID(Self.ulid))
        #expect(PartID.make(ulid).text == "part_\(Self.ulid)")
        #expect(PartID.make(ulid).owner == nil)
        let owned = PartID.make(ulid, by: Node(number: 12, epoch: 3))
        #expect(owned.text == "part_\(Self.ulid)-12.3")
        #expect(owned.owner == Node(number: 12, epoch: 3))
    }

    @Test(arguments: ["", "-", "-1", "-1.", "-.2", "-0.1", "-1.0", "-1.2.3", "-a.1", "-99999999999999999999.1"])
    func hasNoOwnerOtherwise(_ end: String) {
        #expect(PartID("part_\(Self.ulid)\(end)").owner == nil)
    }

    @Test func namesItsLocation() throws {
        let ulid = try #require(ULID(Self.ulid))
        let films = Name(trusted: "my-films_2.x")
        #expect(PartID.make(ulid).location == .default)
        let own = PartID.make(ulid, in: films)
        #expect(own.text == "part_\(Self.ulid)@my-films_2.x")
        #expect(own.location == films && own.owner == nil)
        let owned = PartID.make(ulid, by: Node(number: 12, epoch: 3), in: films)
        #expect(owned.text == "part_\(Self.ulid)-12.3@my-films_2.x")
        #expect(owned.location == films && owned.owner == Node(number: 12, epoch: 3))
    }

    /// The oldest parts are removed first.
    @Test func isOrderedByAgeWhoeverMadeIt() throws {
        let (old, new) = ("01HZX3K9V7Q2N4R8T6W0YB5CDH", "01HZX3K9V7Q2N4R8T6W0YB5CDJ")
        let ids = try [old, new].map { text in
            let ulid = try #require(ULID(text))
            return [nil, Node(number: 9, epoch: 9), Node(number: 10, epoch: 1)].map { PartID.make(ulid, by: $0).text }
        }
        for earlier in ids[0] { for later in ids[1] { #expect(earlier < later) } }
    }
}
