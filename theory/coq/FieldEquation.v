(* The tactic field_equation: what field does, for equations that fill pages.

   field reads both sides in Ltac, which takes most of its time where they are long.  Here Ltac2
   reads them, and the standard library's lemma on normal forms does the rest, in the virtual
   machine. *)

From Coq Require Import Reals ZArith List.
From Coq Require Import Field Field_theory Ring_polynom.
From Ltac2 Require Import Ltac2.
Set Default Proof Mode "Classic".
Import ListNotations.
Open Scope R_scope.

(* ---- field expressions over the reals, their letters standing for the numbers of a list ---- *)

Definition value (l : list R) (e : FExpr Z) : R :=
  FEeval 0 1 Rplus Rmult Rminus Ropp Rdiv Rinv IZR N.to_nat pow l e.
Definition fraction (e : FExpr Z) : linear Z :=
  Fnorm 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Zeq_bool e.
Definition polynomial (e : PExpr Z) : Pol Z :=
  norm_subst 0%Z 1%Z Z.add Z.mul Z.sub Z.opp Zeq_bool Z.quotrem 0 [] e.
(* Whether two are equal where what they divide by is not zero. *)
Definition same (a b : FExpr Z) : bool :=
  let a := fraction a in let b := fraction b in
  Peq Zeq_bool (polynomial (PEmul (num a) (denum b))) (polynomial (PEmul (num b) (denum a))).
Definition divisors (a b : FExpr Z) : list (PExpr Z) :=
  condition (fraction a) ++ condition (fraction b).
Definition nonzero_at (l : list R) (divisors : list (PExpr Z)) : Prop :=
  PCond 0 1 Rplus Rmult Rminus Ropp eq IZR N.to_nat pow l divisors.

Lemma same_value l a b A B d :
  A = value l a -> B = value l b -> same a b = true -> divisors a b = d -> nonzero_at l d -> A = B.
Proof.
  intros -> -> S <-.
  exact (RIneq.RField_field_lemma1 0 l [] a b I _ eq_refl _ eq_refl _ eq_refl S).
Qed.

(* ---- reading ---- *)

Ltac2 binary () := [
  ('Rplus, '(@FEadd Z)); ('Rmult, '(@FEmul Z)); ('Rminus, '(@FEsub Z)); ('Rdiv, '(@FEdiv Z)) ].
Ltac2 unary () := [ ('Ropp, '(@FEopp Z)); ('Rinv, '(@FEinv Z)) ].

(* The application is of the right types by construction; to check them at each node is slow. *)
Ltac2 applied (f : constr) (arguments : constr list) : constr :=
  Constr.Unsafe.make (Constr.Unsafe.App f (Array.of_list arguments)).

Ltac2 is_literal (t : constr) : bool :=
  match Constr.Unsafe.kind t with
  | Constr.Unsafe.Constructor _ _ => true
  | Constr.Unsafe.App f _ => Constr.is_constructor f
  | _ => false
  end.

Ltac2 rec place_after (met : (constr * constr) list) : constr :=
  match met with
  | [] => 'xH
  | _ :: earlier => let last := place_after earlier in Std.eval_vm None '(Pos.succ $last)
  end.

(* The letter of a number, which joins those met so far if it is new. *)
Ltac2 letter (met : (constr * constr) list ref) (x : constr) : constr :=
  match List.assoc_opt Constr.equal x (met.(contents)) with
  | Some known => known
  | None =>
    let place := place_after (met.(contents)) in
    let new := '(@FEX Z $place) in
    met.(contents) := (x, new) :: met.(contents);
    new
  end.

Ltac2 reader (met : (constr * constr) list ref) : constr -> constr :=
  let binary := binary () in
  let unary := unary () in
  let constant := '(@FEc Z) in
  let power := '(@FEpow Z) in
  let natural := 'N.of_nat in
  let izr := 'IZR in
  let pow := 'pow in
  let rec read (t : constr) : constr :=
    match Constr.Unsafe.kind t with
    | Constr.Unsafe.App f arguments =>
      let argument := Array.get arguments in
      let is_with_literal c place :=
        match Constr.equal f c with true => is_literal (argument place) | false => false end in
      match List.assoc_opt Constr.equal f binary with
      | Some c => applied c [read (argument 0); read (argument 1)]
      | None =>
      match List.assoc_opt Constr.equal f unary with
      | Some c => applied c [read (argument 0)]
      | None =>
      match is_with_literal izr 0 with
      | true => applied constant [argument 0]
      | false =>
      match is_with_literal pow 1 with
      | true =>
        applied power [read (argument 0); Std.eval_vm None (applied natural [argument 1])]
      | false => letter met t
      end end end end
    | _ => letter met t
    end in
  read.

Ltac2 rec numbers (met : (constr * constr) list) (later : constr) : constr :=
  match met with
  | [] => later
  | pair :: earlier => let (x, _) := pair in numbers earlier '(@cons R $x $later)
  end.

(* ---- the tactic ---- *)

(* What is left to prove: that the divisors are not zero, in the form that field gives it. *)
Ltac divisors_left FLD hypotheses equation := simpl_PCond FLD.

Ltac equal_as_read l a b :=
  let answer := eval vm_compute in (same a b) in
  lazymatch answer with true => idtac | false => fail "the sides differ" end;
  let d := eval vm_compute in (divisors a b) in
  lazymatch goal with |- ?A = ?B =>
    refine ((fun nonzero => same_value l a b A B d
      (@eq_refl R A : A = value l a) (@eq_refl R B : B = value l b)
      (@eq_refl bool true <: same a b = true)
      (@eq_refl (list (PExpr Z)) d <: divisors a b = d) nonzero) _)
  end;
  unfold nonzero_at; field_lookup (PackField divisors_left) [] (0 = 0).

Ltac field_equation := ltac2:(
  lazy_match! goal with
  | [ |- ?a = ?b ] =>
    let met := { contents := [] } in
    let read := reader met in
    let a := read a in
    let b := read b in
    let l := numbers (met.(contents)) '(@nil R) in
    ltac1:(l a b |- equal_as_read l a b)
      (Ltac1.of_constr l) (Ltac1.of_constr a) (Ltac1.of_constr b)
  end).
