"""Places of queries and keys, which comparisons of an attention go by."""


class Places:
    """The places of queries and keys, in a body of ops whose loops are `letters`; `given` has elements of
    `found` by name. Each value is computed once."""

    def __init__(self, op, body, letters, found, given):
        self.op, self.body, self.letters, self.found, self.given = op, body, letters, found, given
        self.known = {}

    def once(self, name, make, *arguments):
        if name not in self.known:
            self.known[name] = make(*arguments)
        return self.known[name]

    def position(self, letter):
        return self.once(letter, lambda: self.body.emit(
            f"linalg.index {self.letters.index(letter)} : index"))

    def index_of(self, name):
        type_ = self.found[name][0].type
        return self.body.emit(f"arith.index_cast {self.given[name]} : {type_} to index")

    def minus(self, a, b):
        return self.body.emit(f"arith.subi {a}, {b} : index")

    def place(self, letter):
        """The place of a query or a key among the keys, or among the queries where `outer` is that of keys."""
        op = self.op
        if op.packed and letter == op.outer:
            return self.index_of("places")
        value = self.position(letter)
        if letter == "m" and op.end and not op.packed:
            ahead = self.minus(*self.found.counts)
            value = self.body.emit(f"arith.addi {value}, {ahead} : index")
        return value

    def coordinate(self, letter):
        return self.once((letter,), self.place, letter)

    def number_of_key(self):
        """A key's number in its sequence."""
        if not self.op.packed:
            return self.coordinate("n")
        begin = "starts" if self.op.outer == "m" else "begins"
        return self.once("number", lambda: self.minus(self.position("n"), self.index_of(begin)))

    def distance(self, type_):
        """The key's place less the query's."""
        far = self.minus(self.coordinate("n"), self.coordinate("m"))
        far = self.body.emit(f"arith.index_cast {far} : index to i64")
        return self.body.emit(f"arith.sitofp {far} : i64 to {type_}")
