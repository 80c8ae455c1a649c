import Downloads
import Foundation
import Testing

@Suite struct AccessTests {
    @Test func scopesAreOrdered() {
        #expect(Scope.allCases.sorted() == [.read, .jobs, .sessions, .admin])
        for (index, scope) in Scope.allCases.enumerated() {
            for (other, another) in Scope.allCases.enumerated() {
                #expect((scope < another) == (index < other), "\(scope) \(another)")
            }
        }
    }

    @Test(arguments: [
        ("films", "films", true), ("films", "films2", false), ("films", "film", false), ("films", "Films", false),
        ("films*", "films", true), ("films*", "films-2024", true), ("films*", "film", false),
        ("films*", "my-films", false), ("a.b*", "a.b", true), ("a.b*", "a-b", false), ("_*", "_x", true),
    ])
    func patternMatchesNames(_ pattern: String, _ name: String, _ matches: Bool) throws {
        let session = try #require(Name(name))
        #expect(try #require(SessionPattern(pattern)).matches(session) == matches)
        #expect(VisibleSessions.matching([SessionPattern(trusted: pattern)]).contain(session) == matches)
    }

    @Test(arguments: [
        "", "*", "**", "f*s", "*films", "films**", "a b", "ä*", "..*", ".", String(repeating: "a", count: 129),
    ])
    func refusesOtherPatterns(_ text: String) { #expect(SessionPattern(text) == nil) }

    @Test func callersSeeTheirSessions() {
        #expect(VisibleSessions.all.contain(.default))
        #expect(!VisibleSessions.matching([]).contain(.default))
        let some = VisibleSessions.matching([SessionPattern(trusted: "a"), SessionPattern(trusted: "d*")])
        #expect(some.contain(.default))
        #expect(!some.contain(Name(trusted: "ab")))
    }

    @Test func administratorIsNeverBound() throws {
        let some = VisibleSessions.matching([SessionPattern(trusted: "a*")])
        #expect(Permissions(.admin, in: some) == nil)
        for scope in Scope.allCases where scope != .admin {
            let grant = try #require(Permissions(scope, in: some))
            #expect(grant.isBound && !grant.isAdministrator)
        }
        for scope in Scope.allCases {
            let grant = try #require(Permissions(scope))
            #expect(!grant.isBound)
            #expect(grant.isAdministrator == (scope == .admin))
        }
    }

    @Test func tokenExpiresAtItsTime() throws {
        let moment = Date(milliseconds: 1_000_000)
        var token = Token(id: TokenID("tok_1"), name: nil, grant: .everything, createdAt: Date(milliseconds: 0))
        #expect(!token.isExpired(at: .distantFuture))
        token.expiresAt = moment
        #expect(!token.isExpired(at: moment.addingTimeInterval(-0.001)))
        #expect(token.isExpired(at: moment))
        #expect(token.isExpired(at: moment.addingTimeInterval(1)))
    }
}
